import type { SealedText } from '../../foundation/vault/index.ts'

/** The repository of an agent and its sync state. Booleans are 0 or 1, times ISO 8601 UTC. */
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
  /** When the workspace became a repository of this binding; null if not yet. */
  bound_at: string | null
  last_sync_at: string | null
  last_sync_status: 'never' | 'success' | 'failed'
  /** What currently fails; a successful look does not clear a failed sync. */
  failing: 'look' | 'sync' | null
  consecutive_failures: number
  last_error: string | null
  last_commit_sha: string | null
  /** Null: never observed. */
  ahead: number | null
  behind: number | null
  dirty: number | null
  seen_at: string | null
  tried_at: string | null
  auto_synced_at: string | null
  /** The commits before and after the last sync or pull with changes; null without one. */
  change_direction: 'push' | 'pull' | null
  change_from_sha: string | null
  change_to_sha: string | null
  change_at: string | null
}

/** The agent's own token of the git host, sealed. */
export type AgentGitTokenRow = { agent_id: string; sealed: SealedText; updated_at: string }

export type AgentGitTables = { agent_git: AgentGitRow; agent_git_tokens: AgentGitTokenRow }

/** Initial values of a new binding. */
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
