/** A volume at an engine with the content of a record. Times are ISO 8601 UTC. */
export type BaseRow = {
  id: string
  engine_id: string
  /** The agent and the record may have been removed since. */
  agent_id: string
  record_id: string
  volume: string
  /** The whole base from which this one has only the differences; null for a whole one. */
  on_volume: string | null
  state: 'filling' | 'filled'
  /** Size of the archive that filled it. */
  bytes: number
  created_at: string
  /** When a fork, a run of its agent, or a base with differences last needed it. */
  used_at: string
}

export type BaseTables = { workspace_bases: BaseRow }
