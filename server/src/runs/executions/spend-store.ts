import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionsTable } from './tables.ts'

/** Longer than any run waits and works, so no older run was open since then. */
const maxRunMs = 2 * 86_400_000

export type Spent = { micros: number; isEstimated: boolean }

/** Cost booked by the broker so far, in micro-dollars, estimates included. */
export function spendStore(executor: Executor) {
  const db = executor.withTables<{ executions: ExecutionsTable }>()

  /** By agent id; agents without runs since then are omitted. */
  async function ofAgents(agentIds: readonly string[], since: Date): Promise<Map<string, Spent>> {
    if (agentIds.length === 0) return new Map()
    const rows = await db
      .selectFrom('executions')
      .select((e) => [
        'agent_id',
        e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'),
        e.fn.max<number | null>('cost_estimated').as('estimated'),
      ])
      .where('agent_id', 'in', [...agentIds])
      .where('created_at', '>=', new Date(since.getTime() - maxRunMs).toISOString())
      .where((e) => e.or([e('completed_at', 'is', null), e('completed_at', '>=', since.toISOString())]))
      .groupBy('agent_id')
      .execute()
    // PostgreSQL returns sums as text.
    return new Map(
      rows.map((row) => [row.agent_id, { micros: Number(row.micros), isEstimated: row.estimated === 1 }]),
    )
  }

  return {
    async ofRun(id: string): Promise<number> {
      const query = db.selectFrom('executions').select('cost_micros').where('id', '=', id)
      return (await query.executeTakeFirst())?.cost_micros ?? 0
    },

    /** Cost of an agent's runs that were open at `since` or started later. */
    async ofAgent(agentId: string, since: Date): Promise<Spent> {
      return (await ofAgents([agentId], since)).get(agentId) ?? { micros: 0, isEstimated: false }
    },

    ofAgents,
  }
}
