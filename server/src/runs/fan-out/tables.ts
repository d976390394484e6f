import type { ExecutionRow } from '../executions/index.ts'

export type FanOutsTable = {
  /** `fo_…` */
  id: string
  agent_id: string
  max_concurrency: number
  /** The key that asked for it; null for a person's session. */
  source_mcp_key_id: string | null
  created_at: string
  /** When its end was told; null before. What became of it is read from its runs. */
  completed_at: string | null
}

export type FanOutTables = { fan_outs: FanOutsTable; executions: ExecutionRow }
