import type { Executor } from '../../ports/database/port.ts'
import type { WorkspaceSessionsTable, WorkspaceTables } from './tables.ts'

/** The SQL of Workspace sessions and blocked addresses. */
export function workspaceSessionStore(executor: Executor) {
  const db = executor.withTables<WorkspaceTables>()
  return {
    async insert(row: WorkspaceSessionsTable): Promise<void> {
      await db.insertInto('workspace_sessions').values(row).execute()
    },
    async byHash(hash: string): Promise<WorkspaceSessionsTable | null> {
      const row = await db
        .selectFrom('workspace_sessions')
        .selectAll()
        .where('token_hash', '=', hash)
        .executeTakeFirst()
      return row ?? null
    },
    async touch(hash: string, at: string): Promise<void> {
      await db
        .updateTable('workspace_sessions')
        .set({ last_used_at: at })
        .where('token_hash', '=', hash)
        .execute()
    },
    async remove(hash: string): Promise<void> {
      await db.deleteFrom('workspace_sessions').where('token_hash', '=', hash).execute()
    },
    async removeOf(email: string): Promise<void> {
      await db.deleteFrom('workspace_sessions').where('email', '=', email).execute()
    },
    async removeExpired(now: string, idleSince: string): Promise<void> {
      await db
        .deleteFrom('workspace_sessions')
        .where((e) => e.or([e('expires_at', '<=', now), e('last_used_at', '<=', idleSince)]))
        .execute()
    },
    async lastUses(emails: readonly string[]): Promise<Map<string, string>> {
      if (emails.length === 0) return new Map()
      const rows = await db
        .selectFrom('workspace_sessions')
        .select('email')
        .select((e) => e.fn.max('last_used_at').as('at'))
        .where('email', 'in', [...emails])
        .groupBy('email')
        .execute()
      return new Map(rows.flatMap(({ email, at }) => (at === null ? [] : [[email, at] as const])))
    },

    /** Ids of the agents that have blocked this address. */
    async blockedFrom(email: string): Promise<Set<string>> {
      const rows = await db
        .selectFrom('workspace_blocks')
        .select('agent_id')
        .where('email', '=', email)
        .execute()
      return new Set(rows.map((row) => row.agent_id))
    },
    async blockedOf(agentId: string): Promise<Set<string>> {
      const rows = await db
        .selectFrom('workspace_blocks')
        .select('email')
        .where('agent_id', '=', agentId)
        .execute()
      return new Set(rows.map((row) => row.email))
    },
    async block(row: WorkspaceTables['workspace_blocks']): Promise<void> {
      await db
        .insertInto('workspace_blocks')
        .values(row)
        .onConflict((c) => c.columns(['agent_id', 'email']).doNothing())
        .execute()
    },
    async unblock(agentId: string, email: string): Promise<void> {
      await db
        .deleteFrom('workspace_blocks')
        .where('agent_id', '=', agentId)
        .where('email', '=', email)
        .execute()
    },
    async removeBlocksOf(agentId: string): Promise<void> {
      await db.deleteFrom('workspace_blocks').where('agent_id', '=', agentId).execute()
    },
  }
}
