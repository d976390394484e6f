import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'

export type AgentRecord = {
  id: string
  name: string
  desired: 'running' | 'stopped'
  status: 'running' | 'stopped' | 'exited'
  max_parallel_tasks: number
}

/** A run, as far as it is looked at. */
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
  /** When its end was told; null before. */
  completed_at: string | null
}

/** An event, with what it says of a run; null where it is about something else. */
export type EventRecord = {
  sequence: number
  type: string
  ts: string
  agentIds: string[]
  executionId: string | null
  status: string | null
  setting: string | null
}

/** What was read of one state of the database. */
export type Records = {
  agents: AgentRecord[]
  /** Not ended; the running ones first, should there be more than are read. */
  open: RunRecord[]
  /** The newest, in any state; every event of theirs is among `events`. */
  newest: RunRecord[]
  /** Further ones that events name. */
  named: RunRecord[]
  /** Ended, and still with a lease. */
  leased: RunRecord[]
  /** Those whose end was not told, and those of the open runs. */
  fanOuts: FanOutRecord[]
  /** The newest of all types, oldest first. */
  events: EventRecord[]
  /** When the platform's bound of parallel runs was last changed; null: never. */
  ceilingChangedAt: string | null
}
