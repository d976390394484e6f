import type { AgentRecord, FanOutRecord, RunRecord } from './records.ts'

/** The columns of other features' tables that are read here. */
export type InvariantTables = {
  agents: AgentRecord
  executions: RunRecord
  fan_outs: FanOutRecord
  outbox: {
    sequence: number
    position: number | null
    type: string
    agent_ids: string
    fields: string
    ts: string
  }
  settings: { key: string; updated_at: string }
}
