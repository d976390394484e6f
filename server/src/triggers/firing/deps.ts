import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch, RunContext } from '../../runs/dispatch/index.ts'
import type { FrozenAfter, ReachesAgent } from './ports.ts'

export type FireDeps = {
  db: Db
  clock: Pick<Clock, 'now' | 'wait'>
  log: Log
  events: Pick<Outbox, 'append' | 'appendAll'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  agentRecords: Pick<AgentRecords, 'byId'>
  runContextOf(agentId: string): Promise<RunContext | null>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue' | 'recordSkipped' | 'lockQueues'>
  times: Pick<ScheduleTimes, 'next'>
  frozenAfter: FrozenAfter
  reachesAgent: ReachesAgent
}
