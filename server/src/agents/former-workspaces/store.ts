import type { Executor } from '../../ports/database/port.ts'
import type { FormerWorkspaceRow, FormerWorkspaceTables } from './tables.ts'

export function formerWorkspaceStore(executor: Executor) {
  const db = executor.withTables<FormerWorkspaceTables>()
  return {
    async insert(row: FormerWorkspaceRow): Promise<void> {
      await db.insertInto('agent_former_workspaces').values(row).execute()
    },
    /** Newest first. */
    ofAgent: (agentId: string): Promise<FormerWorkspaceRow[]> =>
      db
        .selectFrom('agent_former_workspaces')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('left_at', 'desc')
        .orderBy('id')
        .execute(),
    async byId(agentId: string, id: string): Promise<FormerWorkspaceRow | null> {
      const query = db.selectFrom('agent_former_workspaces').selectAll().where('agent_id', '=', agentId)
      return (await query.where('id', '=', id).executeTakeFirst()) ?? null
    },
    withContainer: (): Promise<FormerWorkspaceRow[]> =>
      db.selectFrom('agent_former_workspaces').selectAll().where('has_container', '=', 1).execute(),
    async containerRemoved(id: string): Promise<void> {
      const change = db.updateTable('agent_former_workspaces').set({ has_container: 0 })
      await change.where('id', '=', id).execute()
    },
    /** Returns false if another request has removed it. */
    async remove(id: string): Promise<boolean> {
      const removal = db.deleteFrom('agent_former_workspaces').where('id', '=', id)
      return (await removal.executeTakeFirst()).numDeletedRows > 0n
    },
  }
}
