import type { ExpressionBuilder } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionsTable } from './tables.ts'

/** Longer than a run waits and works, unless it is a held task of a fan-out. */
const maxRunMs = 2 * 86_400_000

type SpendTables = {
  executions: ExecutionsTable
  fan_outs: { id: string; completed_at: string | null }
}

export type Spent = { micros: number; isEstimated: boolean }

/** Cost booked by the broker so far, in micro-dollars, estimates included. */
export function spendStore(executor: Executor) {
  const db = executor.withTables<SpendTables>()

  /** By agent id; agents without runs since then are omitted. */
  async function ofAgents(agentIds: readonly string[], since: Date): Promise<Map<string, Spent>> {
    if (agentIds.length === 0) return new Map()
    const from = new Date(since.getTime() - maxRunMs).toISOString()
    const found = db
      .selectFrom('executions')
      .select((e) => [
        'executions.agent_id',
        e.fn.coalesce(e.fn.sum<number | string>('executions.cost_micros'), e.lit(0)).as('micros'),
        e.fn.max<number | null>('executions.cost_estimated').as('estimated'),
      ])
      .where('executions.agent_id', 'in', [...agentIds])
      .where(isOpenOrEnds('executions.completed_at', since))
      .groupBy('executions.agent_id')
    const [recent, held] = await Promise.all([
      found.where('executions.created_at', '>=', from).execute(),
      found
        .innerJoin('fan_outs', 'fan_outs.id', 'executions.fan_out_id')
        .where('executions.created_at', '<', from)
        .where(isOpenOrEnds('fan_outs.completed_at', since))
        .execute(),
    ])
    const spent = new Map<string, Spent>()
    for (const row of [...recent, ...held]) {
      const { micros, isEstimated } = spent.get(row.agent_id) ?? nothing
      // PostgreSQL returns sums as text.
      spent.set(row.agent_id, {
        micros: micros + Number(row.micros),
        isEstimated: isEstimated || row.estimated === 1,
      })
    }
    return spent
  }

  return {
    async ofRun(id: string): Promise<number> {
      const query = db.selectFrom('executions').select('cost_micros').where('id', '=', id)
      return (await query.executeTakeFirst())?.cost_micros ?? 0
    },

    /** Cost of an agent's runs that were open at `since` or started later. */
    async ofAgent(agentId: string, since: Date): Promise<Spent> {
      return (await ofAgents([agentId], since)).get(agentId) ?? nothing
    },

    ofAgents,
  }
}

const nothing: Spent = { micros: 0, isEstimated: false }

function isOpenOrEnds(column: 'executions.completed_at' | 'fan_outs.completed_at', since: Date) {
  return (e: ExpressionBuilder<SpendTables, 'executions' | 'fan_outs'>) =>
    e.or([e(column, 'is', null), e(column, '>=', since.toISOString())])
}
