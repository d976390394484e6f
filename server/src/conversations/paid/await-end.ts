import { unprotected } from '../../foundation/idempotency/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { createWait } from '../../runs/executions/index.ts'
import { outcomeMessage } from '../chat/index.ts'
import { turnStore } from './turn-store.ts'

export type AwaitEndDeps = Parameters<typeof createWait>[0] & { db: Db }

/** A run that does not succeed is never charged. */
const unpaid = { payment: { settled: false } }

/**
 * Waits for a run to succeed. On `run_failed` and `run_timeout` it releases the proof; the message hides the agent's
 * internals. After `sync_wait_exceeded` the run continues and the proof stays bound.
 */
export function createAwaitEnd(deps: AwaitEndDeps) {
  const wait = createWait(deps)
  return async (row: ExecutionRow, signal: AbortSignal): Promise<void> => {
    try {
      // The proof, not an idempotency key, protects the request from being executed twice.
      const result = await wait(row, unprotected, { signal, preferredMs: null })
      if (result.status !== 'success')
        throw new Fault('run_failed', undefined, { error_code: result.error_code })
    } catch (error) {
      if (!isFault(error)) throw error
      const { execution_id, error_code } = { execution_id: row.id, error_code: null, ...error.fields }
      if (error.code === 'sync_wait_exceeded')
        throw new Fault(error.code, undefined, { ...error.fields, ...unpaid })
      await turnStore(deps.db).release(row.id)
      const code = error.code === 'run_timeout' ? error.code : 'run_failed'
      throw new Fault(code, outcomeMessage(error_code), { execution_id, error_code, ...unpaid })
    }
  }
}
