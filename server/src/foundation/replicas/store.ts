import type { ReplicaRole } from '@roost/contracts/operations/replicas'
import type { Executor } from '../../ports/database/port.ts'

export type ReplicaRow = {
  id: string
  role: ReplicaRole
  host_name: string
  process_id: number
  version: string
  git_commit: string | null
  /** Newest migration that the process knows. */
  schema_version: string | null
  agent_address: string | null
  /** Container engine of an API process; null while it is unknown. */
  engine_id: string | null
  started_at: string
  /** Time of the last heartbeat. */
  seen_at: string
}

export function replicaStore(on: Executor) {
  const db = on.withTables<{ replicas: ReplicaRow }>()
  return {
    /** Also restores a row that was deleted because its process was silent for too long. */
    async put(row: ReplicaRow): Promise<void> {
      const { seen_at, agent_address, engine_id } = row
      await db
        .insertInto('replicas')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at, agent_address, engine_id }))
        .execute()
    },
    async remove(id: string): Promise<void> {
      await db.deleteFrom('replicas').where('id', '=', id).execute()
    },
    async removeSeenBefore(time: string): Promise<void> {
      await db.deleteFrom('replicas').where('seen_at', '<', time).execute()
    },
    all(): Promise<ReplicaRow[]> {
      return db
        .selectFrom('replicas')
        .selectAll()
        .orderBy('role')
        .orderBy('host_name')
        .orderBy('started_at')
        .orderBy('id')
        .execute()
    },
  }
}
