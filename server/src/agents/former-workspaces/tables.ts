/** A workspace that an agent has left. Its volumes are named after `volume_base`. */
export type FormerWorkspaceRow = {
  id: string
  agent_id: string
  volume_base: string
  engine_id: string | null
  /** The last container that had it mounted. */
  container_id: string
  /** 1 while that container may exist. */
  has_container: number
  /** What the agent continued from; it may have been removed since. Null: its own choice of another workspace. */
  record_id: string | null
  left_at: string
}

export type FormerWorkspaceTables = { agent_former_workspaces: FormerWorkspaceRow }
