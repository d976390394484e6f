export type BreakerKind = 'dispatch' | 'transport'

/** At most one row for each agent and kind; none stands for a closed breaker that has seen no failure. */
export type BreakersTable = {
  agent_id: string
  kind: BreakerKind
  /** Dispatch: failures in a row. Transport: failed calls within the window when the last one failed. */
  failure_count: number
  /** JSON array of times: the failed calls within the window. Always empty for dispatch. */
  failed_at: string
  /** How often it opened since it was last closed: the wait doubles with each. */
  openings: number
  /** From when on it is half open. Null while it is closed. */
  retry_at: string | null
  /** Dispatch: the run that was let through while half open. */
  probe_execution_id: string | null
}

export type BreakerTables = { breakers: BreakersTable }
