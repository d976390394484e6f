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
  /** Between which commits the last sync or pull that changed something has moved; null: none has. */
  change_direction: 'push' | 'pull' | null
  change_from_sha: string | null
  change_to_sha: string | null
  change_at: string | null
}

/** The agent's own token of the git host, sealed. */
export type AgentGitTokenRow = { agent_id: string; sealed: string; updated_at: string }

export type AgentGitTables = { agent_git: AgentGitRow; agent_git_tokens: AgentGitTokenRow }

/** Of a binding that was just made. */
export const blankBinding = {
  auto_sync: 0,
  pull_sync: 0,
  freeze_schedules: 0,
  bound_at: null,
  last_sync_at: null,
  last_sync_status: 'never',
  failing: null,
  consecutive_failures: 0,
  last_error: null,
  last_commit_sha: null,
  ahead: null,
  behind: null,
  dirty: null,
  seen_at: null,
  tried_at: null,
  auto_synced_at: null,
  change_direction: null,
  change_from_sha: null,
  change_to_sha: null,
  change_at: null,
} as const satisfies Partial<AgentGitRow>
