import type { ErrorCode } from '@roost/contracts/kit/errors'
import type { QueuedReceipt } from '@roost/contracts/runs/request'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Executions } from './service.ts'
import type { ExecutionRow } from './store.ts'

/**
 * Waits until a run has ended, also while it is queued. Returns the row of a successful or cancelled run. Throws
 * `run_failed`, `run_timeout` or `provider_rate_limited` for a failed one. Throws `sync_wait_exceeded` after twice
 * the run's timeout, the preferred wait, or an abort; then the run continues and `claim` stays open.
 */
export type Wait = (row: ExecutionRow, claim: Claim, options: WaitOptions) => Promise<ExecutionRow>

/** The request that waits. */
export type WaitOptions = {
  /** Aborts when the client disconnects or the platform stops. */
  signal: AbortSignal
  /** Milliseconds after which the client prefers the receipt; null for no preference. */
  preferredMs: number | null
}

export function createWait(deps: {
  clock: Pick<Clock, 'wait'>
  executions: Pick<Executions, 'untilEnd'>
}): Wait {
  return async function wait(row, claim, options) {
    const ended = await endOf(deps, row, options)
    if (!ended) {
      if (!options.signal.aborted) await claim.complete({ status: 200, body: receiptOf(row), receipt: true })
      throw new Fault('sync_wait_exceeded', undefined, { ...receiptOf(row), error_code: null })
    }
    if (ended.status !== 'success') await claim.release()
    if (ended.status === 'failed') throw failureOf(ended)
    return ended
  }
}

/** Returns null when the run did not end in time, or the request stopped waiting. */
async function endOf(
  { clock, executions }: Parameters<typeof createWait>[0],
  row: ExecutionRow,
  { signal, preferredMs }: WaitOptions,
): Promise<ExecutionRow | null> {
  const timeUp = new AbortController()
  const maxWaitMs = Math.min(row.timeout_seconds * 2000, preferredMs ?? Number.POSITIVE_INFINITY)
  const timer = clock.wait(maxWaitMs, timeUp.signal).then(() => timeUp.abort())
  try {
    return await executions.untilEnd(row.id, AbortSignal.any([signal, timeUp.signal]))
  } finally {
    timeUp.abort()
    await timer
  }
}

/** Error code that a failed run gives a response whose status is not sent yet. */
export function runErrorCode(row: Pick<ExecutionRow, 'error_code'>): ErrorCode {
  if (row.error_code === 'timeout' || row.error_code === 'stalled') return 'run_timeout'
  return row.error_code === 'rate_limited' ? 'provider_rate_limited' : 'run_failed'
}

function failureOf(row: ExecutionRow): Fault {
  return new Fault(runErrorCode(row), row.error ?? undefined, {
    execution_id: row.id,
    error_code: row.error_code,
  })
}

/** The stored response for a repeated request, while the run continues without a waiting request. */
function receiptOf(row: ExecutionRow): QueuedReceipt {
  return { status: 'queued_timeout', execution_id: row.id, agent_name: row.agent_name, async_mode: true }
}
