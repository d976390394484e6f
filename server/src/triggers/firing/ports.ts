import type { Agent } from '../../agents/records/index.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Schedule } from '../schedules/index.ts'

/** Delivers a run's output to the Workspace chat of the schedule's recipient, once per fire after its last attempt. */
export type Deliver = (tx: Tx, run: { row: ExecutionRow; schedule: Schedule; email: string }) => Promise<void>

/** Consecutive failed git syncs of an agent whose schedules they freeze; null for other agents. */
export type FrozenAfter = (agent: Agent) => Promise<number | null>

/** Whether a person with this address can reach the agent now: its owner, or a person it is shared with. */
export type ReachesAgent = (agent: Agent, email: string) => Promise<boolean>
