import type { FireOutcome } from '@roost/contracts/triggers/schedules'
import type { ExecutionRow } from '../../runs/executions/index.ts'

/** One row for each due time that the clock came to. Times ISO 8601 UTC. */
export type FiresTable = {
  schedule_id: string
  due_at: string
  agent_id: string
  /** 1: one of several that were missed and are all made up for. */
  is_catch_up: number
  /** Null while the time is claimed by a scheduler and its fire is not decided. */
  outcome: FireOutcome | null
  reason: string | null
  execution_id: string | null
  recorded_at: string
}

/** What the leading scheduler says of itself; one row. */
export type SchedulerStateTable = {
  id: number
  leader: string
  leads_since: string
  jobs_count: number
  next_due_at: string | null
  checked_at: string
}

export type FireTables = { fires: FiresTable; scheduler_state: SchedulerStateTable }
/** The runs of schedules; the table is that of `executions`. */
export type ScheduleRunTables = { executions: ExecutionRow }
