import type { Loop, LoopRunStatus, LoopStatus, StopReason } from '@roost/contracts/runs/loops'
import { formatCost, formatDuration, plural } from '../../lib/format.ts'

type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info'

export const loopStatusWords: Record<LoopStatus, { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'info' },
  running: { label: 'Running', tone: 'accent' },
  completed: { label: 'Completed', tone: 'success' },
  completed_with_errors: { label: 'Completed with errors', tone: 'warning' },
  stopped: { label: 'Stopped', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'danger' },
  interrupted: { label: 'Interrupted', tone: 'warning' },
}

export const runStatusWords: Record<LoopRunStatus, { label: string; tone: Tone }> = {
  running: { label: 'Running', tone: 'accent' },
  completed: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
}

type Ended = Pick<
  Loop,
  | 'stop_reason'
  | 'max_runs'
  | 'stop_signal'
  | 'max_cost_usd'
  | 'max_duration_seconds'
  | 'no_progress_threshold'
>

/** Why a loop ended, with the reached limit; null while it is running. */
export function stopWords(loop: Ended): string | null {
  return loop.stop_reason === null ? null : reasons[loop.stop_reason](loop)
}

const reasons: Record<StopReason, (loop: Ended) => string> = {
  max_runs_reached: ({ max_runs }) => `Reached its maximum of ${plural(max_runs, 'run')}.`,
  stop_signal_matched: ({ stop_signal }) => `A reply contained the stop phrase “${stop_signal ?? ''}”.`,
  user_stopped: () => 'Stopped by a user.',
  deadline_exceeded: ({ max_duration_seconds: seconds }) =>
    seconds === null ? 'Reached its deadline.' : `Reached its deadline of ${formatDuration(seconds * 1000)}.`,
  budget_exhausted: ({ max_cost_usd: usd }) =>
    usd === null ? 'Reached its budget.' : `Reached its budget of ${formatCost(usd)}.`,
  no_progress: ({ no_progress_threshold: count }) => `${count} consecutive replies were equal.`,
  error: () => 'A run failed.',
  interrupted: () => 'Interrupted by a restart of the platform.',
}

export function isOpen({ status }: Pick<Loop, 'status'>): boolean {
  return status === 'queued' || status === 'running'
}
