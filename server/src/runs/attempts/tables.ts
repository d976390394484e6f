import type { RunCheckAnswer } from '@roost/contracts/link/check'
import type { AttemptSetStatus, AttemptStatus, AttemptsBody } from '@roost/contracts/runs/attempts'
import type { Trigger } from '@roost/contracts/runs/executions'
import type { ExecutionRow } from '../executions/index.ts'

/** Times ISO 8601 UTC, money in micro-dollars. */
export type AttemptSetsTable = {
  id: string
  /** The source of all forks. */
  agent_id: string
  status: AttemptSetStatus
  message: string | null
  max_cost_micros: number
  check_command: string | null
  check_seconds: number | null
  pick: AttemptsBody['pick']
  /** JSON `RunOptions`. */
  run_options: string
  /** JSON `Source`. */
  source: string
  base_record_id: string | null
  kept_number: number | null
  /** The latest restore that was to keep one. */
  restore_id: string | null
  created_by: string | null
  created_at: string
  updated_at: string
  /** When the last attempt ended. */
  done_at: string | null
  /** When its forks and records were removed. Null before. */
  ended_at: string | null
}

export type AttemptsTable = {
  set_id: string
  number: number
  status: AttemptStatus
  runtime: string | null
  model: string | null
  message: string
  /** The fork; its name is chosen before it exists. */
  agent_name: string | null
  agent_id: string | null
  execution_id: string | null
  /** A record of the source; it exists once `changes` is set. */
  record_id: string | null
  /** JSON `AttemptChanges`. */
  changes: string | null
  error: string | null
  /** JSON `CheckResult`. */
  check_result: string | null
  /** Of all runs of the fork. Null until it is removed. */
  cost_micros: number | null
  cost_estimated: number
  updated_at: string
}

export type RunOptions = {
  triggered_by: Trigger
  timeout_seconds: number | null
  allowed_tools: string[] | null
}
export type AttemptChanges = { added: number; changed: number; deleted: number; renamed: number }
export type CheckResult = Omit<RunCheckAnswer, 'state'>

export type AttemptTables = {
  attempt_sets: AttemptSetsTable
  attempts: AttemptsTable
  executions: ExecutionRow
}
