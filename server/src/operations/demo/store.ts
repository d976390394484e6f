import type { Executor } from '../../ports/database/port.ts'

/** Times ISO 8601 UTC. */
export type DemoAgentRow = {
  name: string
  /** Null: a person has an agent of this name, or the demo was removed before this agent was created. */
  agent_id: string | null
  seeded_at: string
  /** When its first runs were accepted. */
  started_at: string | null
  removed_at: string | null
}

export function demoStore(executor: Executor) {
  const db = executor.withTables<{ demo_agents: DemoAgentRow }>()
  return {
    all: (): Promise<DemoAgentRow[]> => db.selectFrom('demo_agents').selectAll().orderBy('name').execute(),

    /** False if the row exists. */
    async add(row: DemoAgentRow): Promise<boolean> {
      const added = await db
        .insertInto('demo_agents')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('name')
        .executeTakeFirst()
      return added !== undefined
    },

    /** False if it was started or removed before. */
    async markStarted(name: string, at: string): Promise<boolean> {
      const marked = await db
        .updateTable('demo_agents')
        .set({ started_at: at })
        .where('name', '=', name)
        .where('started_at', 'is', null)
        .where('removed_at', 'is', null)
        .returning('name')
        .executeTakeFirst()
      return marked !== undefined
    },

    async markRemoved(at: string): Promise<void> {
      await db.updateTable('demo_agents').set({ removed_at: at }).where('removed_at', 'is', null).execute()
    },
  }
}
