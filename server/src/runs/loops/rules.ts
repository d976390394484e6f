import { maxTimeoutSeconds, minTimeoutSeconds } from '@roost/contracts/agents/settings'
import type { ExecutionStatus } from '@roost/contracts/runs/executions'
import {
  type LoopEnd,
  type LoopRunStatus,
  type LoopStatus,
  previousPlaceholder,
  previousResponseLength,
  runPlaceholder,
  type StopReason,
} from '@roost/contracts/runs/loops'
import { secondsLater } from '../../kit/clock.ts'
import type { LoopsTable } from './tables.ts'

/** The columns of a run that decide how its loop continues. */
export type RunState = {
  status: ExecutionStatus
  cost_micros: number | null
  error: string | null
  error_code: string | null
  started_at: string | null
}

/** How a loop ends. */
export type End = { status: LoopEnd; stop_reason: StopReason; error: string | null }

type LoopState = Pick<
  LoopsTable,
  | 'max_runs'
  | 'on_failure'
  | 'max_consecutive_failures'
  | 'stop_signal'
  | 'delay_seconds'
  | 'max_duration_seconds'
  | 'max_cost_micros'
  | 'no_progress_threshold'
  | 'stop_requested_at'
  | 'runs_completed'
  | 'created_at'
>

/** The state of a loop when a run has ended; `runs` in order, the ended one last. */
export type LoopProgress = {
  loop: LoopState
  runs: readonly RunState[]
  /** Reply of the last run; null when it failed. */
  response: string | null
  /** True when the newest successful replies are equal, as many as the threshold. */
  isStuck: boolean
  now: Date
}

/** Decides after a run whether the loop ends: first by the run itself, then by the limits of the loop. */
export function endAfterRun(progress: LoopProgress): End | null {
  const { loop, runs, response, isStuck, now } = progress
  const last = runs.at(-1)
  const isBounded = loop.stop_requested_at !== null || isOverdue(loop, runs, now)
  if (loop.stop_signal !== null && response?.includes(loop.stop_signal)) {
    return { status: completedAs(runs), stop_reason: 'stop_signal_matched', error: null }
  }
  if (isStuck && !isBounded) return stopped('no_progress')
  if (last?.status === 'cancelled' || last?.status === 'skipped') {
    return { ...stopped('user_stopped'), error: last.error }
  }
  const failure = endByFailure(loop, runs)
  // The deadline limits the timeout of a run, so a timeout at the deadline ends the loop and is not a
  // failure.
  if (failure && last?.error_code === 'timeout' && isOverdue(loop, runs, now))
    return stopped('deadline_exceeded')
  return failure ?? endBetweenRuns(loop, runs, now)
}

/** Checked after each run, and again before the next one is dispatched. */
export function endBetweenRuns(loop: LoopState, runs: readonly RunState[], now: Date): End | null {
  if (loop.runs_completed >= loop.max_runs) {
    return { status: completedAs(runs), stop_reason: 'max_runs_reached', error: null }
  }
  if (loop.stop_requested_at !== null) return stopped('user_stopped')
  if (isOverdue(loop, runs, now)) return stopped('deadline_exceeded')
  if (loop.max_cost_micros !== null && costOf(runs) >= loop.max_cost_micros) {
    return stopped('budget_exhausted')
  }
  return null
}

function endByFailure(loop: LoopState, runs: readonly RunState[]): End | null {
  const last = runs.at(-1)
  if (last?.status !== 'failed') return null
  const reason = last.error ?? 'no reason was given.'
  if (loop.on_failure === 'abort') return failed(`Run ${loop.runs_completed} failed: ${reason}`)
  const streak = streakOf(runs)
  if (streak < loop.max_consecutive_failures) return null
  return failed(`${streak} runs in a row failed, the last of them: ${reason}`)
}

function stopped(stop_reason: StopReason): End {
  return { status: 'stopped', stop_reason, error: null }
}

/** The end of a loop that cannot continue. */
export function failed(error: string): End {
  return { status: 'failed', stop_reason: 'error', error }
}

function completedAs(runs: readonly RunState[]): LoopEnd {
  return failedRuns(runs) > 0 ? 'completed_with_errors' : 'completed'
}

export function failedRuns(runs: readonly Pick<RunState, 'status'>[]): number {
  return runs.filter(({ status }) => status === 'failed').length
}

/** Number of consecutive failed runs at the end. */
function streakOf(runs: readonly RunState[]): number {
  return runs.length - 1 - runs.findLastIndex(({ status }) => status !== 'failed')
}

export function costOf(runs: readonly Pick<RunState, 'cost_micros'>[]): number {
  return runs.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0)
}

/** Start of the first run; null before. */
export function startOf(runs: readonly Pick<RunState, 'started_at'>[]): string | null {
  return runs.find(({ started_at }) => started_at !== null)?.started_at ?? null
}

/**
 * Returns null without a deadline. Until a run is claimed the deadline counts from the creation of the loop.
 */
export function deadlineOf(
  loop: Pick<LoopState, 'max_duration_seconds' | 'created_at'>,
  runs: readonly Pick<RunState, 'started_at'>[],
): Date | null {
  if (loop.max_duration_seconds === null) return null
  return secondsLater(new Date(startOf(runs) ?? loop.created_at), loop.max_duration_seconds)
}

function isOverdue(loop: LoopState, runs: readonly RunState[], now: Date): boolean {
  const deadline = deadlineOf(loop, runs)
  return deadline !== null && now >= deadline
}

/**
 * Timeout of the next run in seconds; null means the agent's own. The time left until the deadline limits it.
 * It is never below the shortest agent timeout, so that a dispatched run has a fair chance to finish.
 */
export function runTimeout(
  loop: Pick<LoopState, 'max_duration_seconds' | 'created_at'> & Pick<LoopsTable, 'timeout_per_run'>,
  runs: readonly Pick<RunState, 'started_at'>[],
  now: Date,
): number | null {
  if (loop.max_duration_seconds === null) return loop.timeout_per_run
  // The deadline of the first run counts from its claim, so it has the full time.
  const deadline = runs.length === 0 ? null : deadlineOf(loop, runs)
  const left = deadline ? Math.ceil((deadline.getTime() - now.getTime()) / 1000) : loop.max_duration_seconds
  return Math.min(loop.timeout_per_run ?? maxTimeoutSeconds, Math.max(minTimeoutSeconds, left))
}

/** When the loop is checked next: after the delay, or at an earlier deadline. */
export function nextCheck(loop: LoopState, runs: readonly RunState[], now: Date): Date {
  const due = secondsLater(now, loop.delay_seconds)
  const deadline = deadlineOf(loop, runs)
  return deadline !== null && deadline < due ? deadline : due
}

/**
 * The message of a run, filled in one pass, so that placeholders in a reply are not replaced. `previous` is
 * the last successful reply; null before there is one.
 */
export function messageOf(template: string, number: number, previous: string | null): string {
  const tail = (previous ?? '').slice(-previousResponseLength).toWellFormed()
  const parts = template.split(/(\{\{run\}\}|\{\{previous_response\}\})/)
  return parts
    .map((part) => {
      if (part === runPlaceholder) return String(number)
      return part === previousPlaceholder ? tail : part
    })
    .join('')
}

/** Normalizes white space, so that equal replies compare as equal. */
export function normalizedReply(reply: string): string {
  return reply.trim().replaceAll(/\s+/g, ' ')
}

export function statusOf(
  loop: Pick<LoopsTable, 'status' | 'runs_completed'>,
  runs: readonly Pick<RunState, 'started_at'>[],
): LoopStatus {
  if (loop.status !== 'open') return loop.status
  return loop.runs_completed > 0 || startOf(runs) !== null ? 'running' : 'queued'
}

export function runStatusOf(status: ExecutionStatus): LoopRunStatus {
  switch (status) {
    case 'queued':
    case 'running':
    case 'pending_retry':
      return 'running'
    case 'success':
      return 'completed'
    case 'skipped':
      return 'cancelled'
    case 'failed':
    case 'cancelled':
      return status
  }
}
