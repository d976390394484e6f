import type { ErrorCode } from '@roost/contracts/kit/errors'
import type { QueuedReceipt } from '@roost/contracts/runs/request'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { ExecutionRow, Executions } from '../executions/index.ts'

/**
 * Waits for the end of a run, while it is queued too. Answers the row of one that succeeded, with `claim`
 * still to be completed by its reply, or of one that was cancelled. Throws `run_failed`, `run_timeout`,
 * `provider_rate_limited` for one that failed, and `sync_wait_exceeded` after twice the run's timeout, or what
 * the client prefers, or when `signal` ends the waiting because the client went away or the platform stops: then the run goes on, and the
 * claim stays open with it.
 */
export type Wait = (row: ExecutionRow, claim: Claim, asking: Asking) => Promise<ExecutionRow>

/** The request that waits. */
export type Asking = {
  /** Ends when the client goes away or the platform stops. */
  signal: AbortSignal
  /** Milliseconds after which the client would rather have the receipt; null: as long as it takes. */
  preferredMs: number | null
}

export function createWait(deps: {
  clock: Pick<Clock, 'wait'>
  executions: Pick<Executions, 'watch'>
}): Wait {
  return async function wait(row, claim, asking) {
    const ended = await endOf(deps, row, asking)
    if (!ended) {
      if (!asking.signal.aborted) await claim.complete({ status: 200, body: receiptOf(row), receipt: true })
      throw new Fault('sync_wait_exceeded', undefined, { ...receiptOf(row), error_code: null })
    }
    if (ended.status !== 'success') await claim.release()
    if (ended.status === 'failed') throw failureOf(ended)
    return ended
  }
}

/** Null: it did not end in time, or nobody waits any more. */
async function endOf(
  { clock, executions }: Parameters<typeof createWait>[0],
  row: ExecutionRow,
  { signal, preferredMs }: Asking,
): Promise<ExecutionRow | null> {
  const waited = new AbortController()
  const longestMs = Math.min(row.timeout_seconds * 2000, preferredMs ?? Number.POSITIVE_INFINITY)
  const longest = clock.wait(longestMs, waited.signal).then(() => waited.abort())
  try {
    const until = AbortSignal.any([signal, waited.signal])
    for await (const told of executions.watch(row.id, { lines: false, signal: until })) {
      if (told.kind === 'end') return told.row
    }
    return null
  } finally {
    waited.abort()
    await longest
  }
}

/** How a failed run is answered where its status is still open. */
export function errorOf(row: Pick<ExecutionRow, 'error_code'>): ErrorCode {
  if (row.error_code === 'timeout' || row.error_code === 'stalled') return 'run_timeout'
  return row.error_code === 'rate_limited' ? 'provider_rate_limited' : 'run_failed'
}

function failureOf(row: ExecutionRow): Fault {
  return new Fault(errorOf(row), row.error ?? undefined, {
    execution_id: row.id,
    error_code: row.error_code,
  })
}

/** What a repeated request is told while the run goes on without anybody waiting. */
function receiptOf(row: ExecutionRow): QueuedReceipt {
  return { status: 'queued_timeout', execution_id: row.id, agent_name: row.agent_name, async_mode: true }
}
