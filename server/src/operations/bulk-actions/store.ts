import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'

/** Read only: the rows belong to `executions`. */
type FleetCostTables = { executions: ExecutionRow }

const columns = [
  'cost_micros',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
] as const
export type Sums = Record<(typeof columns)[number], number>
/** `cost_estimated` is 1 when a part of the cost is an estimate. */
export type ModelCost = Sums & { model_used: string | null; cost_estimated: number }
export type AgentCost = {
  agent_id: string
  agent_name: string
  cost_micros: number
  cost_estimated: number
  executions: number
}

/** Cost in micro-dollars of the runs created since a time. */
export function costStore(executor: Executor) {
  const db = executor.withTables<FleetCostTables>()
  const runs = (since: string) => db.selectFrom('executions').where('created_at', '>=', since)

  return {
    async byModel(since: string): Promise<ModelCost[]> {
      const rows = await runs(since)
        .select(['model_used', hasEstimate, ...columns.map((column) => total(column).as(column))])
        .groupBy('model_used')
        .execute()
      return rows.map((row) => ({
        model_used: row.model_used,
        cost_estimated: row.cost_estimated,
        ...numbers(row),
      }))
    },

    async byAgent(since: string): Promise<AgentCost[]> {
      const rows = await runs(since)
        .select(({ fn }) => [
          'agent_id',
          fn.max('agent_name').as('agent_name'),
          total('cost_micros').as('cost_micros'),
          hasEstimate,
          fn.countAll<number>().as('executions'),
        ])
        .groupBy('agent_id')
        .execute()
      return rows.map(({ cost_micros, executions, ...row }) => ({
        ...row,
        cost_micros: Number(cost_micros),
        executions: Number(executions),
      }))
    },

    async total(since: string): Promise<number> {
      const row = await runs(since).select(total('cost_micros').as('micros')).executeTakeFirstOrThrow()
      return Number(row.micros)
    },
  }
}

const hasEstimate = sql<number>`coalesce(max(cost_estimated), 0)`.as('cost_estimated')

/** PostgreSQL returns sums as text. */
function total(column: (typeof columns)[number]) {
  return sql<number | string>`coalesce(sum(${sql.ref(column)}), 0)`
}

function numbers(row: Record<(typeof columns)[number], number | string>): Sums {
  return {
    cost_micros: Number(row.cost_micros),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cache_read_tokens: Number(row.cache_read_tokens),
    cache_creation_tokens: Number(row.cache_creation_tokens),
  }
}
