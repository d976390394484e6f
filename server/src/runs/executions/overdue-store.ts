import type { Executor } from '../../ports/database/port.ts'
import { isOpen } from './queue-store.ts'
import type { ExecutionRow } from './store.ts'
import type { ExecutionTables } from './tables.ts'

/** Reads for background passes: expired runs, and agents that have waiting runs. */
export function overdueStore(executor: Executor) {
  const db = executor.withTables<ExecutionTables>()
  return {
    /** The next runs with an expired lease, after the row `after`. */
    async leaseExpired(
      now: string,
      limit: number,
      after: Pick<ExecutionRow, 'lease_expires_at' | 'id'> | null,
    ): Promise<ExecutionRow[]> {
      const last = { at: after?.lease_expires_at ?? '', id: after?.id ?? '' }
      return db
        .selectFrom('executions')
        .selectAll()
        .where(isOpen)
        .where('status', '=', 'running')
        .where('lease_expires_at', '<', now)
        .where((e) =>
          e.or([
            e('lease_expires_at', '>', last.at),
            e.and([e('lease_expires_at', '=', last.at), e('id', '>', last.id)]),
          ]),
        )
        .orderBy('lease_expires_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** Returns true while the run is under the same claim and its lease was not renewed. */
    async stillExpired(row: ExecutionRow): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ lease_expires_at: row.lease_expires_at })
        .where('id', '=', row.id)
        .where('status', '=', 'running')
        .where('claim_token', '=', row.claim_token)
        .where('lease_expires_at', '=', row.lease_expires_at)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async queuedBefore(cutoff: string, limit: number): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where(isOpen)
        .where('status', '=', 'queued')
        .where('queued_at', '<', cutoff)
        .orderBy('queued_at')
        .limit(limit)
        .execute()
    },

    /** Agents with queued runs. */
    async agentsWithWaiting(): Promise<string[]> {
      const rows = await db
        .selectFrom('executions')
        .select('agent_id')
        .distinct()
        .where(isOpen)
        .where('status', '=', 'queued')
        .where('queued_at', 'is not', null)
        .execute()
      return rows.map((row) => row.agent_id)
    },
  }
}
