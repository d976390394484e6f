import type { LoopBody, LoopEnd, StopReason } from '@roost/contracts/runs/loops'
import type { ExecutionRow } from '../executions/index.ts'

export type LoopsTable = {
  /** `loop_…` */
  id: string
  agent_id: string
  /** `open` until it has ended; whether an open one is queued or running is read from its runs. */
  status: 'open' | LoopEnd | 'interrupted'
  stop_reason: StopReason | null
  error: string | null

  message: string
  max_runs: number
  on_failure: LoopBody['on_failure']
  max_consecutive_failures: number
  stop_signal: string | null
  delay_seconds: number
  timeout_per_run: number | null
  /** Counted from the start of the first run. */
  max_duration_seconds: number | null
  max_cost_micros: number | null
  /** 0 turns the check off. */
  no_progress_threshold: number
  model: string | null
  /** JSON array. */
  allowed_tools: string | null

  /** Runs whose end was counted. */
  runs_completed: number
  /** The dispatched run whose end was not counted yet. */
  open_execution_id: string | null
  /** Time of the next check; null while a run is open and after the end. */
  next_run_at: string | null
  stop_requested_at: string | null
  created_at: string
  completed_at: string | null

  /** JSON `Source`. */
  source: string
  /** Name of the agent, or email address or name of the person. */
  started_by: string
  /** The person who started it; null for an agent. */
  source_user_id: string | null
  source_mcp_key_id: string | null
  /** Depth of the first run, which the caller starts; later runs keep it, because nobody calls them. */
  chain_depth: number
}

export type LoopTables = { loops: LoopsTable; executions: ExecutionRow }
