import type { Executor } from '../../ports/database/port.ts'
import type { AgentGitRow, AgentGitTables } from './tables.ts'

export type GitPatch = Partial<Omit<AgentGitRow, 'agent_id' | 'created_at'>>

/** The only SQL about bindings. */
export function gitStore(executor: Executor) {
  const db = executor.withTables<AgentGitTables>()
  return {
    async of(agentId: string): Promise<AgentGitRow | null> {
      const query = db.selectFrom('agent_git').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },

    all: (): Promise<AgentGitRow[]> => db.selectFrom('agent_git').selectAll().orderBy('agent_id').execute(),

    async insert(row: AgentGitRow): Promise<void> {
      await db.insertInto('agent_git').values(row).execute()
    },

    async update(agentId: string, patch: GitPatch): Promise<boolean> {
      const done = await db
        .updateTable('agent_git')
        .set(patch)
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return done.numUpdatedRows > 0n
    },
  }
}
