import type { Run, RunResult } from '@roost/contracts/link/runs'
import { cutToBytes, shorten } from '../kit/text.ts'
import type { Outcome } from '../runtimes/port.ts'
import type { TurnEnd } from './run-turn.ts'

/** The result of a run as sent to the platform; the spool adds the number of the last line. */
export type Result = Omit<RunResult, 'last_line'>

/** A result must fit one message of the link; transcript lines have the same limits. */
const maxResponseBytes = 4 * 1024 * 1024
const maxErrorLength = 20_000
const maxIdLength = 200

export function resultOf(run: Run, end: TurnEnd, elapsedMs: number, stallSeconds: number): Result {
  const { outcome } = end
  const base = baseResult(run, elapsedMs, outcome)
  switch (end.how) {
    case 'result':
      return {
        ...base,
        status: outcome.status,
        response:
          outcome.response === null ? null : cutToBytes(outcome.response.toWellFormed(), maxResponseBytes),
        error: outcome.error === null ? null : shorten(outcome.error.toWellFormed(), maxErrorLength),
        error_code: outcome.errorCode,
        terminal_reason: outcome.terminalReason,
      }
    case 'timeout':
      return {
        ...base,
        error: `The turn was stopped after its time limit of ${run.timeout_seconds} seconds.`,
        ...timedOut,
      }
    case 'stalled':
      return {
        ...base,
        error: `The turn was stopped because the runtime wrote no output for ${stallSeconds} seconds.`,
        error_code: 'stalled',
        terminal_reason: 'stall_no_output',
      }
    case 'cancelled':
      return { ...base, ...cancelled }
  }
}

/** The result of a run cancelled before its runtime was spawned. */
export function cancelledResult(run: Run, elapsedMs: number): Result {
  return { ...baseResult(run, elapsedMs, null), ...cancelled }
}

/** The result of a turn that could not be started. */
export function faultResult(run: Run, elapsedMs: number, message: string): Result {
  return {
    ...baseResult(run, elapsedMs, null),
    error: shorten(message.toWellFormed(), maxErrorLength),
    error_code: 'agent_error',
    terminal_reason: 'crashed',
  }
}

/** The result of a turn whose preparation took longer than its time limit. */
export function unpreparedResult(run: Run, elapsedMs: number): Result {
  return {
    ...baseResult(run, elapsedMs, null),
    error: `The turn did not start within its time limit of ${run.timeout_seconds} seconds.`,
    ...timedOut,
  }
}

/** The result of a run during which this program, and with it the runtime, ended. `message` is for people. */
export function lostResult(run: { executionId: string; claimToken: number }, message: string): Result {
  return {
    ...baseResult({ execution_id: run.executionId, claim_token: run.claimToken }, 0, null),
    error: message,
    error_code: 'agent_lost',
    terminal_reason: 'crashed',
  }
}
export const restartedMessage = 'The agent was restarted in the middle of this run.'
export const stoppedMessage = 'The container of the agent was stopped in the middle of this run.'

const timedOut = { error_code: 'timeout', terminal_reason: 'max_duration' } as const

const cancelled = {
  status: 'cancelled',
  error: null,
  error_code: 'user_cancelled',
  terminal_reason: 'cancelled',
} as const

function baseResult(
  run: Pick<Run, 'execution_id' | 'claim_token'>,
  elapsedMs: number,
  outcome: Outcome | null,
): Result {
  return {
    t: 'result',
    execution_id: run.execution_id,
    claim_token: run.claim_token,
    status: 'failed',
    response: null,
    error: null,
    error_code: null,
    terminal_reason: null,
    metadata: outcome?.metadata ?? {},
    runtime_session_id: outcome?.sessionId?.slice(0, maxIdLength) ?? null,
    execution_time_ms: Math.round(elapsedMs),
  }
}
