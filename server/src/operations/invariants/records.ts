import type { DiskState } from '@roost/contracts/agents/disk'
import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'

export type AgentRecord = {
  id: string
  name: string
  desired: 'running' | 'stopped'
  status: 'running' | 'stopped' | 'exited'
  max_parallel_tasks: number
  disk_state: DiskState
}

/** The checked columns of a run. */
export type RunRecord = {
  id: string
  agent_id: string
  status: ExecutionStatus
  triggered_by: Trigger
  created_at: string
  queued_at: string | null
  started_at: string | null
  completed_at: string | null
  claim_token: number | null
  lease_expires_at: string | null
  serial_key: string | null
  fan_out_id: string | null
}

export type FanOutRecord = {
  id: string
  agent_id: string
  created_at: string
  /** Time of its end event; null before. */
  completed_at: string | null
}

/** An event and its run fields; these are null for other events. */
export type EventRecord = {
  sequence: number
  type: string
  ts: string
  agentIds: string[]
  executionId: string | null
  status: string | null
  setting: string | null
}

/** A snapshot of the checked records. */
export type Records = {
  agents: AgentRecord[]
  /** Runs that have not ended. Running ones come first, in case of more than the limit. */
  open: RunRecord[]
  /** The newest runs in any state; `events` contains all their events. */
  newest: RunRecord[]
  /** Other runs that events name. */
  named: RunRecord[]
  /** Ended runs that still have a lease. */
  leased: RunRecord[]
  /** Fan-outs without an end event, and those of the open runs. */
  fanOuts: FanOutRecord[]
  /** The newest events of all types, oldest first. */
  events: EventRecord[]
  /** Last change of the platform's limit of parallel runs; null: never. */
  ceilingChangedAt: string | null
}
