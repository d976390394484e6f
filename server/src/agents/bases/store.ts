import type { Executor } from '../../ports/database/port.ts'
import type { BaseRow, BaseTables } from './tables.ts'

/** All SQL about bases of workspaces. */
export function baseStore(executor: Executor) {
  const db = executor.withTables<BaseTables>()
  return {
    all: (engineId: string): Promise<BaseRow[]> =>
      db
        .selectFrom('workspace_bases')
        .selectAll()
        .where('engine_id', '=', engineId)
        .orderBy('used_at')
        .orderBy('id')
        .execute(),
    of: (engineId: string, recordId: string): Promise<BaseRow[]> =>
      db
        .selectFrom('workspace_bases')
        .selectAll()
        .where('engine_id', '=', engineId)
        .where('record_id', '=', recordId)
        .execute(),
    /** The whole base of an agent that was used last. */
    async newestWhole(engineId: string, agentId: string): Promise<BaseRow | null> {
      const row = await db
        .selectFrom('workspace_bases')
        .selectAll()
        .where('engine_id', '=', engineId)
        .where('agent_id', '=', agentId)
        .where('state', '=', 'filled')
        .where('on_volume', 'is', null)
        .orderBy('used_at', 'desc')
        .orderBy('id')
        .executeTakeFirst()
      return row ?? null
    },
    async ofVolume(engineId: string, volume: string): Promise<BaseRow | null> {
      const row = await db
        .selectFrom('workspace_bases')
        .selectAll()
        .where('engine_id', '=', engineId)
        .where('volume', '=', volume)
        .where('state', '=', 'filled')
        .executeTakeFirst()
      return row ?? null
    },
    async insert(row: BaseRow): Promise<void> {
      await db.insertInto('workspace_bases').values(row).execute()
    },
    /** Returns false if another process has removed it meanwhile. */
    async filled(id: string, bytes: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('workspace_bases')
        .set({ state: 'filled', bytes })
        .where('id', '=', id)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async used(id: string, at: string): Promise<void> {
      await db.updateTable('workspace_bases').set({ used_at: at }).where('id', '=', id).execute()
    },
    async remove(id: string): Promise<void> {
      await db.deleteFrom('workspace_bases').where('id', '=', id).execute()
    },
  }
}
