export type EvaluationsTable = {
  id: string
  agent_id: string
  /** 0 to 100. */
  score: number
  verdict: string | null
  notes: string | null
  execution_id: string | null
  /** User name. */
  created_by: string
  created_at: string
}

export type EvaluationTables = { agent_evaluations: EvaluationsTable }
