import type { Executor } from '../../ports/database/port.ts'
import type { Figures } from './rules.ts'

/** Sizes in bytes. An agent without a row was never measured. */
type AgentDiskTable = Figures & { agent_id: string; measured_at: string }

export type DiskRow = Figures & { measured_at: string | null }

export const unmeasured: DiskRow = {
  reported_bytes: null,
  volume_bytes: null,
  container_bytes: null,
  measured_at: null,
}

export function diskStore(executor: Executor) {
  const db = executor.withTables<{ agent_disk: AgentDiskTable }>()
  return {
    async of(agentId: string): Promise<DiskRow> {
      const row = await db
        .selectFrom('agent_disk')
        .selectAll()
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ? readRow(row) : unmeasured
    },

    async all(): Promise<ReadonlyMap<string, DiskRow>> {
      const rows = await db.selectFrom('agent_disk').selectAll().execute()
      return new Map(rows.map((row) => [row.agent_id, readRow(row)]))
    },

    /** Columns missing in the patch keep their values. */
    async put(agentId: string, patch: Partial<Figures>, measured_at: string): Promise<void> {
      const { measured_at: _, ...nothing } = unmeasured
      await db
        .insertInto('agent_disk')
        .values({ agent_id: agentId, ...nothing, ...patch, measured_at })
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ ...patch, measured_at }))
        .execute()
    },
  }
}

function readRow(row: AgentDiskTable): DiskRow {
  return {
    reported_bytes: numberOf(row.reported_bytes),
    volume_bytes: numberOf(row.volume_bytes),
    container_bytes: numberOf(row.container_bytes),
    measured_at: row.measured_at,
  }
}

/** PostgreSQL returns integers of this size as text. */
function numberOf(value: number | string | null): number | null {
  return value === null ? null : Number(value)
}
