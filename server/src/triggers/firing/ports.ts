import type { Agent } from '../../agents/records/index.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Schedule } from '../schedules/index.ts'

/** The output of a run for the Workspace chat of the schedule's recipient; called once for each fire, at its last attempt. */
export type Deliver = (tx: Tx, run: { row: ExecutionRow; schedule: Schedule; email: string }) => Promise<void>

/** Failed syncs in a row of an agent whose schedules are frozen by them; null for all others. */
export type FrozenAfter = (agent: Agent) => Promise<number | null>

/** Whether this address reaches the agent now: its owner's, or of somebody it is shared with. */
export type ReachesAgent = (agent: Agent, email: string) => Promise<boolean>
