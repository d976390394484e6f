import { unprotected } from '../../foundation/idempotency/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { createWait } from '../../runs/waiting/index.ts'
import { outcomeWords } from '../chat/index.ts'
import { turnStore } from './turn-store.ts'

export type AwaitEndDeps = Parameters<typeof createWait>[0] & { db: Db }

/** Nothing is collected for what did not end well. */
const unpaid = { payment: { settled: false } }

/**
 * Waits for a run that ends well. Throws `run_failed`, `run_timeout`, in words that tell a stranger nothing of the
 * agent's inside, after which the proof is free again; and `sync_wait_exceeded`, after which the run goes on.
 */
export function createAwaitEnd(deps: AwaitEndDeps) {
  const wait = createWait(deps)
  return async (row: ExecutionRow, signal: AbortSignal): Promise<void> => {
    try {
      // The proof, not a key, is what keeps a request from being done twice.
      const ended = await wait(row, unprotected, { signal, preferredMs: null })
      if (ended.status !== 'success')
        throw new Fault('run_failed', undefined, { error_code: ended.error_code })
    } catch (error) {
      if (!isFault(error)) throw error
      const { execution_id, error_code } = { execution_id: row.id, error_code: null, ...error.fields }
      if (error.code === 'sync_wait_exceeded')
        throw new Fault(error.code, undefined, { ...error.fields, ...unpaid })
      await turnStore(deps.db).release(row.id)
      const code = error.code === 'run_timeout' ? error.code : 'run_failed'
      throw new Fault(code, outcomeWords(error_code), { execution_id, error_code, ...unpaid })
    }
  }
}
