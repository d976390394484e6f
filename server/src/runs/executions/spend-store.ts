import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionsTable } from './tables.ts'

/** A run waits and works for less long than this: none that was open since is older. */
const longestRunMs = 2 * 86_400_000

/** What runs have cost by now, micro-dollars, as it was metered. */
export function spendStore(executor: Executor) {
  const db = executor.withTables<{ executions: ExecutionsTable }>()
  return {
    async ofRun(id: string): Promise<number> {
      const query = db.selectFrom('executions').select('cost_micros').where('id', '=', id)
      return (await query.executeTakeFirst())?.cost_micros ?? 0
    },

    /** Of the runs of an agent that were going on at `since` or began after it. */
    async ofAgent(agentId: string, since: Date): Promise<number> {
      const row = await db
        .selectFrom('executions')
        .select((e) => e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'))
        .where('agent_id', '=', agentId)
        .where('created_at', '>=', new Date(since.getTime() - longestRunMs).toISOString())
        .where((e) => e.or([e('completed_at', 'is', null), e('completed_at', '>=', since.toISOString())]))
        .executeTakeFirstOrThrow()
      // PostgreSQL sums into a type that comes as text.
      return Number(row.micros)
    },
  }
}
