/**
 * Git in an agent's workspace, as the platform asks for it. The agent's program imports types and numbers only.
 *
 * No token of the git host comes into a container: what goes over the network goes through the platform, with a
 * ticket that is worth something only there, for this agent, this repository and this call.
 */

/** A call may take so long; the agent gives up on git a little earlier. */
export const gitCallSeconds = 120

/** So many files are named at most; more are preserved all the same. */
export const maxPreserved = 500

/** So many files of a change are named, and so much of its text is told. */
export const maxChangedFiles = 500
export const maxDiffBytes = 200 * 1024

export type GitTransfer = {
  /** The repository below the platform's own address. */
  url: string
  /** Sent as a bearer. */
  ticket: string
}

/** The branches of an agent's binding. In source mode the agent works on the source branch and pushes nothing. */
export type GitBranches = { working: string; source: string; source_mode: boolean }

export type GitCommitFacts = { sha: string; message: string; author: string; date: string }

/** How the workspace stands to what was last seen of the remote. */
export type GitState = {
  /** False: there is no repository in the workspace. */
  is_repository: boolean
  branch: string | null
  /** Without credentials, whatever the workspace's configuration holds. */
  remote_url: string | null
  /** The configuration holds an address with credentials. */
  has_credential: boolean
  last_commit: GitCommitFacts | null
  /** `<two letters> <path>` as git prints them; at most 500. */
  changes: string[]
  /** Null: nothing was ever seen of the remote. */
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
 * `refused`: what was asked for cannot be committed. `failed`: git said no, for a reason told without addresses.
 * `from_sha`: what a push found on the remote, or a pull in the workspace; absent when it is the same commit now, or
 * when there was none.
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

/** Looks at the workspace and, with a transfer, at the remote before. */
export type GitLook = { t: 'git.look'; branches: GitBranches; transfer: GitTransfer | null }
/** `failed`: why the remote could not be looked at. */
export type GitLookAnswer = { state: GitState; failed: string | null }
export type GitLog = { t: 'git.log'; limit: number }
export type GitLogAnswer = { commits: GitCommitFacts[] }
/** Makes the workspace a repository of the binding, on the content that is there. */
export type GitBind = {
  t: 'git.bind'
  branches: GitBranches
  transfer: GitTransfer
  /** Shown as the remote; without credentials. */
  remote_url: string
  /** What the workspace was made from; null, or gone from the remote: the source branch as it is now. */
  commit: string | null
}
/** Commits what has changed, or the named paths of it, and pushes the working branch. */
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
/** What lies between two commits of the workspace. */
export type GitChange = { t: 'git.change'; from_sha: string; to_sha: string }
export const changedFileStatuses = ['added', 'modified', 'deleted', 'renamed'] as const
export type GitChangedFile = {
  path: string
  /** Of one that was renamed. */
  previous_path: string | null
  status: (typeof changedFileStatuses)[number]
  /** Lines; null: not counted, because the file is binary. */
  additions: number | null
  deletions: number | null
}
export type GitChangeAnswer = {
  /** False: one of the commits is not in the workspace. */
  found: boolean
  /** At most 500. */
  files: GitChangedFile[]
  total_files: number
  /** Credentials: so many have changed, and nothing else is told of them. */
  hidden_files: number
  /** Unified; of the form that git prints, in the order of the files. */
  diff: string
  /** There is more of the diff or of the files. */
  truncated: boolean
}
/**
 * Makes the workspace a repository of a new binding and pushes it. On a remote that is empty the source branch
 * begins with what is here, too.
 */
export type GitInitialize = {
  t: 'git.initialize'
  branches: GitBranches
  transfer: GitTransfer
  /** Shown as the remote; without credentials. */
  remote_url: string
  message: string
}
/** Makes the workspace what the source branch is; what the agent has made of its own stays. */
export type GitReset = {
  t: 'git.reset'
  branches: GitBranches
  transfer: GitTransfer
  /** Names the folder and the ref that hold what was there before: letters, digits and hyphens. */
  stamp: string
}
/** `snapshot_dir`: below the workspace. Null: nothing was done. */
export type GitResetAnswer = GitEndAnswer & { snapshot_dir: string | null; files_preserved: string[] }
export type GitEndAnswer = { end: GitEnd; state: GitState }
