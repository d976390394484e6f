import type { ModelCall } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'

/** A request of a run to a model provider. Booleans are 0 or 1, money is in micro-dollars. */
export type ModelCallRow = {
  execution_id: string
  id: string
  provider: ModelCall['provider']
  model: string | null
  /** HTTP status; null when the provider did not respond. */
  status: number | null
  started_at: string
  /** Null for a response that was not streamed, and before the first output. */
  first_token_ms: number | null
  duration_ms: number
  input_tokens: number
  output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  cost_micros: number
  cost_estimated: number
}

/** Stored calls per run: an agent that repeats a failing request must not fill the disk. */
export const maxModelCalls = 20_000

/** The only SQL about model calls. */
export function modelCallStore(executor: Executor) {
  const db = executor.withTables<{ model_calls: ModelCallRow }>()
  return {
    /** Stores a call, or replaces its figures. Ignores new calls beyond `maxModelCalls`. */
    async put(row: ModelCallRow): Promise<void> {
      const { execution_id, id, ...figures } = row
      const { total } = await db
        .selectFrom('model_calls')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('execution_id', '=', execution_id)
        .where('id', '!=', id)
        .executeTakeFirstOrThrow()
      if (Number(total) >= maxModelCalls) return
      await db
        .insertInto('model_calls')
        .values(row)
        .onConflict((c) => c.columns(['execution_id', 'id']).doUpdateSet(figures))
        .execute()
    },

    /** True when this call is stored with the same tokens and cost. */
    async hasUsage(row: ModelCallRow): Promise<boolean> {
      const stored = await db
        .selectFrom('model_calls')
        .select([
          'input_tokens',
          'output_tokens',
          'cache_creation_tokens',
          'cache_read_tokens',
          'cost_micros',
        ])
        .where('execution_id', '=', row.execution_id)
        .where('id', '=', row.id)
        .executeTakeFirst()
      if (stored === undefined) return false
      return Object.entries(stored).every(
        ([name, value]) => Number(value) === row[name as keyof typeof stored],
      )
    },

    /** The calls of a run in the order of their start. */
    async of(executionId: string): Promise<ModelCall[]> {
      const rows = await db
        .selectFrom('model_calls')
        .selectAll()
        .where('execution_id', '=', executionId)
        .orderBy('started_at')
        .orderBy('id')
        .execute()
      return rows.map(({ execution_id: _, cost_micros, cost_estimated, ...row }) => ({
        ...row,
        cost: Number(cost_micros) / 1_000_000,
        cost_estimated: cost_estimated === 1,
      }))
    },

    async remove(executionIds: readonly string[]): Promise<void> {
      if (executionIds.length === 0) return
      await db
        .deleteFrom('model_calls')
        .where('execution_id', 'in', [...executionIds])
        .execute()
    },
  }
}
