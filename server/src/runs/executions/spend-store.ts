import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionsTable } from './tables.ts'

/** A run waits and works for less long than this: none that was open since is older. */
const longestRunMs = 2 * 86_400_000

/** What the broker has booked for runs by now, in micro-dollars, estimates included. */
export function spendStore(executor: Executor) {
  const db = executor.withTables<{ executions: ExecutionsTable }>()
  return {
    async ofRun(id: string): Promise<number> {
      const query = db.selectFrom('executions').select('cost_micros').where('id', '=', id)
      return (await query.executeTakeFirst())?.cost_micros ?? 0
    },

    /** Of the runs of an agent that were going on at `since` or began after it. */
    async ofAgent(agentId: string, since: Date): Promise<{ micros: number; isEstimated: boolean }> {
      const row = await db
        .selectFrom('executions')
        .select((e) => [
          e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'),
          e.fn.max<number | null>('cost_estimated').as('estimated'),
        ])
        .where('agent_id', '=', agentId)
        .where('created_at', '>=', new Date(since.getTime() - longestRunMs).toISOString())
        .where((e) => e.or([e('completed_at', 'is', null), e('completed_at', '>=', since.toISOString())]))
        .executeTakeFirstOrThrow()
      // PostgreSQL sums into a type that comes as text.
      return { micros: Number(row.micros), isEstimated: row.estimated === 1 }
    },
  }
}
