import type { FireOutcome } from '@roost/contracts/triggers/schedules'
import type { ExecutionRow } from '../../runs/executions/index.ts'

/** One row per due time. Times ISO 8601 UTC. */
export type FiresTable = {
  schedule_id: string
  due_at: string
  agent_id: string
  /** 1 for one of several missed times that all fire. */
  is_catch_up: number
  /** Null while a scheduler has claimed the time and the fire is undecided. */
  outcome: FireOutcome | null
  reason: string | null
  execution_id: string | null
  recorded_at: string
}

/** The state of the leading scheduler; one row. */
export type SchedulerStateTable = {
  id: number
  leader: string
  leads_since: string
  jobs_count: number
  next_due_at: string | null
  checked_at: string
}

export type FireTables = { fires: FiresTable; scheduler_state: SchedulerStateTable }
/** The runs of schedules, in the table of `executions`. */
export type ScheduleRunTables = { executions: ExecutionRow }
