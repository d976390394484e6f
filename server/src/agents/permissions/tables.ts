/** One edge of the matrix: the source may call the target. It goes with either agent. */
export type PermissionsTable = {
  source_id: string
  target_id: string
  /** The person who granted it. */
  granted_by_id: string
  created_at: string
}

export type PermissionTables = {
  agent_permissions: PermissionsTable
  /** Read only: whose an agent is. */
  agents: { id: string; owner_id: string }
}
