import type { Executor } from '../../ports/database/port.ts'

/** Read only. A start reads publishers from the database instead of the cache. */
type Publishers = {
  agents: { id: string; name: string; volume_base: string; state: string; expose_folder: number }
}

export function folderStore(executor: Executor) {
  const db = executor.withTables<Publishers>()
  return {
    /** The agents among these that publish their folder, sorted by name. */
    async publishing(ids: readonly string[]): Promise<{ id: string; name: string; volume_base: string }[]> {
      if (ids.length === 0) return []
      return db
        .selectFrom('agents')
        .select(['id', 'name', 'volume_base'])
        .where('id', 'in', [...ids])
        .where('state', '=', 'ready')
        .where('expose_folder', '=', 1)
        .orderBy('name')
        .execute()
    },
  }
}
