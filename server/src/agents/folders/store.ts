import type { Executor } from '../../ports/database/port.ts'

/** Read only: what a start must know of publishers, as it is committed and not as it is remembered. */
type Publishers = {
  agents: { id: string; name: string; volume_base: string; state: string; expose_folder: number }
}

export function folderStore(executor: Executor) {
  const db = executor.withTables<Publishers>()
  return {
    /** Those of the agents that publish their folder, by name. */
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
