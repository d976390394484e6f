import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { AgentGitRow, AgentGitTables, AgentGitTokenRow } from './tables.ts'

export type GitPatch = Partial<Omit<AgentGitRow, 'agent_id' | 'created_at'>>

/** All SQL for bindings. */
export function gitStore(executor: Executor) {
  const db = executor.withTables<AgentGitTables>()
  return {
    async of(agentId: string): Promise<AgentGitRow | null> {
      const query = db.selectFrom('agent_git').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },

    all: (): Promise<AgentGitRow[]> => db.selectFrom('agent_git').selectAll().orderBy('agent_id').execute(),

    /** Bindings of agents with paused schedules. */
    frozen: (failures: number) =>
      db
        .selectFrom('agent_git')
        .select(['agent_id', 'consecutive_failures'])
        .where('freeze_schedules', '=', 1)
        .where('consecutive_failures', '>=', failures)
        .execute(),

    /** Inserts the binding or replaces the agent's current one. */
    async replace(row: AgentGitRow): Promise<void> {
      const { agent_id: _, ...rest } = row
      await db
        .insertInto('agent_git')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(rest))
        .execute()
    },

    async sealedToken(agentId: string): Promise<SealedText | null> {
      const query = db.selectFrom('agent_git_tokens').select('sealed').where('agent_id', '=', agentId)
      return (await query.executeTakeFirst())?.sealed ?? null
    },

    async putToken(row: AgentGitTokenRow): Promise<void> {
      const { sealed, updated_at } = row
      await db
        .insertInto('agent_git_tokens')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ sealed, updated_at }))
        .execute()
    },

    async removeToken(agentId: string): Promise<void> {
      await db.deleteFrom('agent_git_tokens').where('agent_id', '=', agentId).execute()
    },

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
