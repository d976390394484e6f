/** Agents without a row, and columns that are null, have no cap. Micro-dollars. */
export type SpendCapsTable = {
  agent_id: string
  daily_micros: number | null
  per_run_micros: number | null
  updated_at: string
}
