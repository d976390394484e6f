/** The repository of an agent, and how syncs with it went. Booleans are 0 or 1, times ISO 8601 UTC. */
export type AgentGitRow = {
  agent_id: string
  /** `owner/repo` on the git host. */
  repository: string
  working_branch: string
  source_branch: string
  source_mode: number
  auto_sync: number
  pull_sync: number
  freeze_schedules: number
  created_at: string
  /** Since when there is a repository of this binding in the workspace; null: not yet. */
  bound_at: string | null
  last_sync_at: string | null
  last_sync_status: 'never' | 'success' | 'failed'
  /** What fails at present; a look that succeeds says nothing of a push that failed. */
  failing: 'look' | 'sync' | null
  consecutive_failures: number
  last_error: string | null
  last_commit_sha: string | null
  /** Null: never seen. */
  ahead: number | null
  behind: number | null
  dirty: number | null
  seen_at: string | null
  tried_at: string | null
  auto_synced_at: string | null
}

export type AgentGitTables = { agent_git: AgentGitRow }
