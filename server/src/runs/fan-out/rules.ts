import { type ExecutionStatus, finalStatuses } from '@roost/contracts/runs/executions'
import type { FanOut, FanOutTaskStatus } from '@roost/contracts/runs/fan-out'
import type { TaskState } from './store.ts'

/** The next step of a fan-out. */
export type Step = { kind: 'wait' } | { kind: 'complete' } | { kind: 'release'; ids: string[] }

/**
 * `taskStates` are in request order. Enqueues held tasks until `maxConcurrency` tasks are queued or running. A
 * fan-out is complete when all its tasks have ended.
 */
export function nextStep(taskStates: readonly TaskState[], maxConcurrency: number): Step {
  const final: readonly ExecutionStatus[] = finalStatuses
  const open = taskStates.filter(({ status }) => !final.includes(status))
  if (open.length === 0) return { kind: 'complete' }
  const held = open.filter(isHeld)
  const room = maxConcurrency - (open.length - held.length)
  const ids = held.slice(0, Math.max(0, room)).map(({ id }) => id)
  return ids.length > 0 ? { kind: 'release', ids } : { kind: 'wait' }
}

function isHeld({ status, queued_at }: TaskState): boolean {
  return status === 'queued' && queued_at === null
}

/**
 * Seconds that a request waits. The default is the agent's timeout for every round of tasks, plus a minute.
 */
export function waitSeconds(
  request: { taskCount: number; maxConcurrency: number; timeoutSeconds: number | null | undefined },
  agentTimeoutSeconds: number,
): number {
  const { taskCount, maxConcurrency, timeoutSeconds } = request
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
