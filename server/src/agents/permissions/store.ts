import type { Executor } from '../../ports/database/port.ts'

/** One edge of the matrix: the source may call the target. Deleted with either agent. */
export type PermissionsTable = {
  source_id: string
  target_id: string
  /** The person who granted it. */
  granted_by_id: string
  created_at: string
}

export type PermissionTables = {
  agent_permissions: PermissionsTable
  /** Read only: the owner of an agent. */
  agents: { id: string; owner_id: string }
}

export function permissionStore(executor: Executor) {
  const db = executor.withTables<PermissionTables>()
  return {
    async targetsOf(sourceId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('agent_permissions')
        .select('target_id')
        .where('source_id', '=', sourceId)
        .execute()
      return rows.map((row) => row.target_id)
    },

    async sourcesOf(targetId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('agent_permissions')
        .select('source_id')
        .where('target_id', '=', targetId)
        .orderBy('created_at')
        .orderBy('source_id')
        .execute()
      return rows.map((row) => row.source_id)
    },

    async all(): Promise<Pick<PermissionsTable, 'source_id' | 'target_id'>[]> {
      return db.selectFrom('agent_permissions').select(['source_id', 'target_id']).execute()
    },

    /** Returns false if the edge already exists. */
    async add(edge: PermissionsTable): Promise<boolean> {
      const result = await db
        .insertInto('agent_permissions')
        .values(edge)
        .onConflict((c) => c.columns(['source_id', 'target_id']).doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    /** Returns false if there is no such edge. */
    async remove(sourceId: string, targetId: string): Promise<boolean> {
      const result = await db
        .deleteFrom('agent_permissions')
        .where('source_id', '=', sourceId)
        .where('target_id', '=', targetId)
        .executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },

    /** Removes the edges from every agent of this owner to the target; returns those agents. */
    async removeOfOwner(targetId: string, ownerId: string): Promise<string[]> {
      const rows = await db
        .deleteFrom('agent_permissions')
        .where('target_id', '=', targetId)
        .where('source_id', 'in', (query) =>
          query.selectFrom('agents').select('id').where('owner_id', '=', ownerId),
        )
        .returning('source_id')
        .execute()
      return rows.map((row) => row.source_id)
    },
  }
}
