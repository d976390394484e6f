/** The columns of other features' tables that are counted here. */
export type MetricsTables = {
  executions: {
    status: string
    triggered_by: string
    created_at: string
    queued_at: string | null
    lease_expires_at: string | null
    cost_micros: number | null
    input_tokens: number | null
    output_tokens: number | null
    cache_creation_tokens: number | null
    cache_read_tokens: number | null
  }
  outbox: { position: number | null; ts: string }
  scheduler_state: { checked_at: string; next_due_at: string | null }
}
