import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type ModelCallRow, modelCallStore, type Usage } from '../executions/index.ts'
import type { Provider } from './provider-rules.ts'

/** The figures of one model call while it runs. */
export type CallRecord = {
  answered(reply: { status: number; model: string | null }): void
  /** Call after each chunk, with the number of output events so far. */
  fed(pieces: number): void
  /** Adds usage; the returned function takes it back. */
  used(usage: Usage): () => void
  /** Stores the call as it is now. */
  store(tx: Tx): Promise<void>
  /** True when the stored usage is that of now. */
  isStored(tx: Tx): Promise<boolean>
  /** False when the stored figures are those of the end. */
  isChanged(): boolean
}

/** A later end than the stored one by fewer milliseconds is not stored again. */
const toleranceMs = 100

export function createCallRecord({
  executionId,
  provider,
  clock,
  monotonic,
}: {
  executionId: string
  provider: Provider
  clock: Pick<Clock, 'now'>
  monotonic(): number
}): CallRecord {
  const began = monotonic()
  const elapsed = () => Math.max(0, Math.round(monotonic() - began))
  let storedMs: number | null = null
  let call: ModelCallRow = {
    ...{ execution_id: executionId, id: newId(), provider, model: null, status: null },
    ...{ started_at: timestamp(clock.now()), first_token_ms: null, duration_ms: 0 },
    ...{ input_tokens: 0, output_tokens: 0, cache_creation_tokens: 0, cache_read_tokens: 0 },
    ...{ cost_micros: 0, cost_estimated: 0 },
  }
  return {
    answered({ status, model }) {
      call = { ...call, status, model }
    },
    fed(pieces) {
      if (pieces > 0 && call.first_token_ms === null) call = { ...call, first_token_ms: elapsed() }
    },
    used(usage) {
      const before = call
      call = {
        ...call,
        model: usage.model ?? call.model,
        input_tokens: call.input_tokens + usage.input_tokens,
        output_tokens: call.output_tokens + usage.output_tokens,
        cache_creation_tokens: call.cache_creation_tokens + usage.cache_creation_tokens,
        cache_read_tokens: call.cache_read_tokens + usage.cache_read_tokens,
        cost_micros: call.cost_micros + usage.cost_micros,
        cost_estimated: usage.is_cost_estimated ? 1 : call.cost_estimated,
      }
      return () => {
        call = before
      }
    },
    async store(tx) {
      call = { ...call, duration_ms: elapsed() }
      await modelCallStore(tx).put(call)
      storedMs = call.duration_ms
    },
    isStored: (tx) => modelCallStore(tx).hasUsage(call),
    isChanged: () => storedMs === null || elapsed() - storedMs > toleranceMs,
  }
}
