/**
 * Git requests for an agent's workspace. The agent's program imports only types and numbers from here.
 *
 * No token of the git host enters a container. Network traffic goes through the platform with a ticket, which
 * is valid only there, for this agent, repository and call.
 */

/** Time limit of a call; the agent stops git slightly earlier. */
export const gitCallSeconds = 120

/** Preserved files listed in an answer; more may be preserved. */
export const maxPreserved = 500

/** Limits for listed files and diff bytes of a change. */
export const maxChangedFiles = 500
export const maxDiffBytes = 200 * 1024

export type GitTransfer = {
  /** Address of the repository below the platform's own address. */
  url: string
  /** Sent as a bearer token. */
  ticket: string
}

/**
 * The branches of an agent's binding. In source mode the agent works on the source branch and never pushes.
 */
export type GitBranches = { working: string; source: string; source_mode: boolean }

export type GitCommitFacts = { sha: string; message: string; author: string; date: string }

/** The workspace compared with the last fetched state of the remote. */
export type GitState = {
  /** False when the workspace has no repository. */
  is_repository: boolean
  branch: string | null
  /** Never contains credentials, even if the workspace's configuration does. */
  remote_url: string | null
  /** True when the configuration contains an address with credentials. */
  has_credential: boolean
  last_commit: GitCommitFacts | null
  /** `<two letters> <path>` as printed by git; at most 500. */
  changes: string[]
  /** Null when the remote was never fetched. */
  ahead: number | null
  behind: number | null
}

export const gitConflicts = [
  'uncommitted_changes',
  'remote_ahead',
  'diverged',
  'rebase_conflict',
  'stash_conflict',
] as const
export type GitConflict = (typeof gitConflicts)[number]

/**
 * `refused`: the requested files cannot be committed. `failed`: git failed; the reason contains no addresses.
 * `from_sha`: the commit before a push (on the remote) or pull (in the workspace); absent if unchanged or
 * missing.
 */
export type GitEnd =
  | { outcome: 'done'; commit_sha: string | null; files_changed: number; from_sha?: string | undefined }
  | { outcome: 'conflict'; conflict: GitConflict; message: string }
  | { outcome: 'refused'; message: string }
  | { outcome: 'failed'; message: string }

export const syncStrategies = ['normal', 'pull_first', 'force_push'] as const
export type SyncStrategy = (typeof syncStrategies)[number]
export const pullStrategies = ['clean', 'stash_reapply', 'force_reset'] as const
export type PullStrategy = (typeof pullStrategies)[number]

/** Reads the workspace's state; with a transfer, fetches the remote first. */
export type GitLook = { t: 'git.look'; branches: GitBranches; transfer: GitTransfer | null }
/** `failed`: why the remote could not be fetched. */
export type GitLookAnswer = { state: GitState; failed: string | null }
export type GitLog = { t: 'git.log'; limit: number }
export type GitLogAnswer = { commits: GitCommitFacts[] }
/** Makes the workspace a repository of the binding and keeps its files. */
export type GitBind = {
  t: 'git.bind'
  branches: GitBranches
  transfer: GitTransfer
  /** Displayed as the remote; without credentials. */
  remote_url: string
  /**
   * The commit that the workspace was made from. If null or missing on the remote, the source branch is used.
   */
  commit: string | null
}
/** Commits changes, or only the given paths, and pushes the working branch. */
export type GitSync = {
  t: 'git.sync'
  branches: GitBranches
  transfer: GitTransfer
  message: string
  paths: string[] | null
  strategy: SyncStrategy
}
export type GitPull = {
  t: 'git.pull'
  branches: GitBranches
  transfer: GitTransfer
  strategy: PullStrategy
}
/** Requests the difference between two commits of the workspace. */
export type GitChange = { t: 'git.change'; from_sha: string; to_sha: string }
export const changedFileStatuses = ['added', 'modified', 'deleted', 'renamed'] as const
export type GitChangedFile = {
  path: string
  /** The former path of a renamed file. */
  previous_path: string | null
  status: (typeof changedFileStatuses)[number]
  /** Changed lines; null for a binary file. */
  additions: number | null
  deletions: number | null
}
export type GitChangeAnswer = {
  /** False when a commit is not in the workspace. */
  found: boolean
  /** At most 500. */
  files: GitChangedFile[]
  total_files: number
  /** Number of changed credential files, about which nothing else is reported. */
  hidden_files: number
  /** Unified diff as printed by git, in the order of the files. */
  diff: string
  /** True when the diff or the files are incomplete. */
  truncated: boolean
}
/**
 * Makes the workspace a repository of a new binding and pushes it. On an empty remote it also creates the
 * source branch.
 */
export type GitInitialize = {
  t: 'git.initialize'
  branches: GitBranches
  transfer: GitTransfer
  /** Displayed as the remote; without credentials. */
  remote_url: string
  message: string
}
/** Resets the workspace to the source branch and keeps the agent's own results. */
export type GitReset = {
  t: 'git.reset'
  branches: GitBranches
  transfer: GitTransfer
  /** Names the snapshot folder and ref: letters, digits and hyphens. */
  stamp: string
}
/** `snapshot_dir`: relative to the workspace; null when nothing was changed. */
export type GitResetAnswer = GitEndAnswer & { snapshot_dir: string | null; files_preserved: string[] }
export type GitEndAnswer = { end: GitEnd; state: GitState }
