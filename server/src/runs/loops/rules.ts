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

/** A run, as far as it decides about the loop. */
export type Ran = {
  status: ExecutionStatus
  cost_micros: number | null
  error: string | null
  error_code: string | null
  started_at: string | null
}

/** How a loop ends. */
export type End = { status: LoopEnd; stop_reason: StopReason; error: string | null }

type Asked = Pick<
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

/** What there is to know when a run has ended; `runs` in order, the ended one last. */
export type Between = {
  loop: Asked
  runs: readonly Ran[]
  /** The reply of the last run; null when it failed. */
  response: string | null
  /** The newest so many successful replies are equal, as many as the threshold says. */
  isStuck: boolean
  now: Date
}

/** Looked at when a run has ended, in this order: what the run itself says, then what bounds the loop. */
export function endAfterRun(between: Between): End | null {
  const { loop, runs, response, isStuck, now } = between
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
  // The deadline bounds the timeout of a run: reaching both is the end of the loop, not a fault of the run.
  if (failure && last?.error_code === 'timeout' && isOverdue(loop, runs, now))
    return stopped('deadline_exceeded')
  return failure ?? endBetweenRuns(loop, runs, now)
}

/** Looked at after each run, and again before the next one is dispatched. */
export function endBetweenRuns(loop: Asked, runs: readonly Ran[], now: Date): End | null {
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

function endByFailure(loop: Asked, runs: readonly Ran[]): End | null {
  const last = runs.at(-1)
  if (last?.status !== 'failed') return null
  const reason = last.error ?? 'it did not say why.'
  if (loop.on_failure === 'abort') return failed(`Run ${loop.runs_completed} failed: ${reason}`)
  const streak = streakOf(runs)
  if (streak < loop.max_consecutive_failures) return null
  return failed(`${streak} runs in a row failed, the last of them: ${reason}`)
}

function stopped(stop_reason: StopReason): End {
  return { status: 'stopped', stop_reason, error: null }
}

/** The loop cannot go on. */
export function failed(error: string): End {
  return { status: 'failed', stop_reason: 'error', error }
}

function completedAs(runs: readonly Ran[]): LoopEnd {
  return failedRuns(runs) > 0 ? 'completed_with_errors' : 'completed'
}

export function failedRuns(runs: readonly Pick<Ran, 'status'>[]): number {
  return runs.filter(({ status }) => status === 'failed').length
}

/** Failed runs at the end of the row. */
function streakOf(runs: readonly Ran[]): number {
  return runs.length - 1 - runs.findLastIndex(({ status }) => status !== 'failed')
}

export function costOf(runs: readonly Pick<Ran, 'cost_micros'>[]): number {
  return runs.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0)
}

/** When the first run began; null before. */
export function startOf(runs: readonly Pick<Ran, 'started_at'>[]): string | null {
  return runs.find(({ started_at }) => started_at !== null)?.started_at ?? null
}

/** Null: there is none. A run that nobody claimed counts from the beginning of the loop. */
export function deadlineOf(
  loop: Pick<Asked, 'max_duration_seconds' | 'created_at'>,
  runs: readonly Pick<Ran, 'started_at'>[],
): Date | null {
  if (loop.max_duration_seconds === null) return null
  return secondsLater(new Date(startOf(runs) ?? loop.created_at), loop.max_duration_seconds)
}

function isOverdue(loop: Asked, runs: readonly Ran[], now: Date): boolean {
  const deadline = deadlineOf(loop, runs)
  return deadline !== null && now >= deadline
}

/**
 * Timeout in seconds that the next run asks for; null means the agent's own. The time left until the deadline bounds
 * it, but not below the shortest timeout an agent may have: a run that is dispatched gets a fair chance to finish.
 */
export function runTimeout(
  loop: Pick<Asked, 'max_duration_seconds' | 'created_at'> & Pick<LoopsTable, 'timeout_per_run'>,
  runs: readonly Pick<Ran, 'started_at'>[],
  now: Date,
): number | null {
  if (loop.max_duration_seconds === null) return loop.timeout_per_run
  // The deadline of the first run counts from its claim, so all of the time is left.
  const deadline = runs.length === 0 ? null : deadlineOf(loop, runs)
  const left = deadline ? Math.ceil((deadline.getTime() - now.getTime()) / 1000) : loop.max_duration_seconds
  return Math.min(loop.timeout_per_run ?? maxTimeoutSeconds, Math.max(minTimeoutSeconds, left))
}

/** When the loop is looked at next: a deadline that comes first is not slept through. */
export function nextLook(loop: Asked, runs: readonly Ran[], now: Date): Date {
  const due = secondsLater(now, loop.delay_seconds)
  const deadline = deadlineOf(loop, runs)
  return deadline !== null && deadline < due ? deadline : due
}

/**
 * The message of a run, filled in at one go: what a reply holds is not read as a placeholder. `previous` is
 * the reply of the last successful run; null before there is one.
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

/** What makes two replies the same. */
export function collapsed(reply: string): string {
  return reply.trim().replaceAll(/\s+/g, ' ')
}

export function statusOf(
  loop: Pick<LoopsTable, 'status' | 'runs_completed'>,
  runs: readonly Pick<Ran, 'started_at'>[],
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
