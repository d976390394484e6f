import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch, RunContext } from '../../runs/dispatch/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Schedule, Schedules } from '../schedules/index.ts'

/** Delivers a run's output to the Workspace chat of the schedule's recipient, once per fire after its last attempt. */
export type Deliver = (tx: Tx, run: { row: ExecutionRow; schedule: Schedule; email: string }) => Promise<void>

/** Consecutive failed git syncs of an agent whose schedules they freeze; null for other agents. */
export type FrozenAfter = (agent: Agent) => Promise<number | null>

/** Whether a person with this address can reach the agent now: its owner, or a person it is shared with. */
export type ReachesAgent = (agent: Agent, email: string) => Promise<boolean>

export type FireDeps = {
  db: Db
  clock: Pick<Clock, 'now' | 'wait'>
  log: Log
  events: Pick<Outbox, 'append' | 'appendAll'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  agentRecords: Pick<AgentRecords, 'byId'>
  schedules: Pick<Schedules, 'byIds'>
  runContextOf(agentId: string): Promise<RunContext | null>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue' | 'recordSkipped' | 'lockQueues'>
  times: Pick<ScheduleTimes, 'next'>
  /** Seconds from the due time of a fire until it is recorded. Not called for caught up fires. */
  fireLateness(seconds: number): void
  frozenAfter: FrozenAfter
  reachesAgent: ReachesAgent
}
