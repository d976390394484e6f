import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionsTable } from './tables.ts'

/** Longer than any run waits and works, so no older run was open since then. */
const maxRunMs = 2 * 86_400_000

/** Cost booked by the broker so far, in micro-dollars, estimates included. */
export function spendStore(executor: Executor) {
  const db = executor.withTables<{ executions: ExecutionsTable }>()
  return {
    async ofRun(id: string): Promise<number> {
      const query = db.selectFrom('executions').select('cost_micros').where('id', '=', id)
      return (await query.executeTakeFirst())?.cost_micros ?? 0
    },

    /** Cost of an agent's runs that were open at `since` or started later. */
    async ofAgent(agentId: string, since: Date): Promise<{ micros: number; isEstimated: boolean }> {
      const row = await db
        .selectFrom('executions')
        .select((e) => [
          e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'),
          e.fn.max<number | null>('cost_estimated').as('estimated'),
        ])
        .where('agent_id', '=', agentId)
        .where('created_at', '>=', new Date(since.getTime() - maxRunMs).toISOString())
        .where((e) => e.or([e('completed_at', 'is', null), e('completed_at', '>=', since.toISOString())]))
        .executeTakeFirstOrThrow()
      // PostgreSQL returns sums as text.
      return { micros: Number(row.micros), isEstimated: row.estimated === 1 }
    },
  }
}
