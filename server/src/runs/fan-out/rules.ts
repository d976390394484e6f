import { type ExecutionStatus, finalStatuses } from '@roost/contracts/runs/executions'
import type { FanOut, FanOutTaskStatus } from '@roost/contracts/runs/fan-out'
import type { Place } from './store.ts'

/** What a fan-out needs next. */
export type Step = { kind: 'wait' } | { kind: 'complete' } | { kind: 'enter'; ids: string[] }

/**
 * Tasks in the order of the request. So many of the held ones enter the line that at most `maxConcurrency`
 * wait in it or run. A fan-out is complete when all its tasks have ended.
 */
export function nextStep(places: readonly Place[], maxConcurrency: number): Step {
  const final: readonly ExecutionStatus[] = finalStatuses
  const open = places.filter(({ status }) => !final.includes(status))
  if (open.length === 0) return { kind: 'complete' }
  const held = open.filter(isHeld)
  const room = maxConcurrency - (open.length - held.length)
  const ids = held.slice(0, Math.max(0, room)).map(({ id }) => id)
  return ids.length > 0 ? { kind: 'enter', ids } : { kind: 'wait' }
}

function isHeld({ status, queued_at }: Place): boolean {
  return status === 'queued' && queued_at === null
}

/** A waiting reply without a limit of its own: every round takes the agent's timeout, and a minute. */
export function waitSeconds(
  asked: { taskCount: number; maxConcurrency: number; timeoutSeconds: number | null | undefined },
  agentTimeoutSeconds: number,
): number {
  const { taskCount, maxConcurrency, timeoutSeconds } = asked
  return timeoutSeconds ?? Math.ceil(taskCount / maxConcurrency) * agentTimeoutSeconds + 60
}

export type Counts = Pick<FanOut, 'total' | 'completed' | 'failed' | 'running' | 'queued' | 'cancelled'>

export function countsOf(runs: readonly { status: ExecutionStatus }[]): Counts {
  const counts = { total: runs.length, completed: 0, failed: 0, running: 0, queued: 0, cancelled: 0 }
  for (const { status } of runs) counts[taskStatus(status)] += 1
  return counts
}

export type State = 'running' | 'completed' | 'partial' | 'failed'

export function stateOf({ total, completed, running, queued }: Counts): State {
  if (running + queued > 0) return 'running'
  if (completed === total) return 'completed'
  return completed === 0 ? 'failed' : 'partial'
}

export function taskStatus(status: ExecutionStatus): FanOutTaskStatus {
  switch (status) {
    case 'success':
      return 'completed'
    case 'skipped':
      return 'cancelled'
    case 'pending_retry':
      return 'queued'
    case 'queued':
    case 'running':
    case 'failed':
    case 'cancelled':
      return status
  }
}
