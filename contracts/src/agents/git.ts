import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { changedFileStatuses, pullStrategies, syncStrategies } from '../link/git.ts'

const tag = 'Git'
const path = '/api/agents/{name}/git'
const reads = { tag, access: { who: 'access' }, params: AgentParams } as const
const sets = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const
const unbound = ['agent_not_found', 'git_not_configured'] as const
const requestFails = [...unbound, 'agent_stopped', 'agent_unresponsive'] as const

export const GitCommit = z.object({
  sha: z.string(),
  message: z.string(),
  author: z.string(),
  date: z.string(),
})

/** Without a repository only `git_enabled` and `message`. Null values: the agent is not running. */
export const GitStatus = z.object({
  git_enabled: z.boolean(),
  message: z.string().nullish(),
  agent_running: z.boolean().optional(),
  branch: z.string().nullish(),
  remote_url: z.string().nullish(),
  last_commit: GitCommit.nullish(),
  changes: z.array(z.string()).optional(),
  ahead: z.number().int().nullish(),
  behind: z.number().int().nullish(),
  sync_status: z.enum(['up_to_date', 'pending_sync', 'unknown']).optional(),
})
export type GitStatus = z.output<typeof GitStatus>

export const getGitStatus = endpoint({
  ...reads,
  id: 'getGitStatus',
  method: 'GET',
  path: `${path}/status`,
  summary: 'State of the workspace compared with its repository',
  returns: GitStatus,
  fails: ['agent_not_found', 'agent_unresponsive'],
})

export const GitConfig = z.object({
  git_enabled: z.literal(true),
  github_repo: z.string(),
  working_branch: z.string(),
  source_branch: z.string(),
  /** The agent works on the source branch and cannot push, because no token may write. */
  source_mode: z.boolean(),
  sync_enabled: z.boolean(),
  auto_sync_enabled: z.boolean(),
  pull_sync_enabled: z.boolean(),
  freeze_schedules_if_sync_failing: z.boolean(),
  created_at: Timestamp,
  last_sync_at: Timestamp.nullable(),
  last_commit_sha: z.string().nullable(),
})

export const getGitConfig = endpoint({
  ...reads,
  id: 'getGitConfig',
  method: 'GET',
  path: `${path}/config`,
  summary: 'The repository and branches of an agent',
  returns: GitConfig,
  fails: unbound,
})

export const syncColours = ['green', 'yellow', 'red', 'unknown'] as const
export const GitSyncState = z.object({
  last_sync_at: Timestamp.nullable(),
  last_sync_status: z.enum(['never', 'success', 'failed']),
  consecutive_failures: z.number().int(),
  last_error_summary: z.string().nullable(),
  ahead: z.number().int().nullable(),
  behind: z.number().int().nullable(),
  state: z.enum(syncColours),
  reason: z.string(),
  /** Its schedules do not fire until a sync succeeds. */
  frozen: z.boolean(),
})
export type GitSyncState = z.output<typeof GitSyncState>

export const getGitSyncState = endpoint({
  ...reads,
  id: 'getGitSyncState',
  method: 'GET',
  path: `${path}/sync-state`,
  summary: 'Stored sync state; the agent is not queried',
  returns: GitSyncState,
  fails: unbound,
})

export const getSyncHealth = endpoint({
  id: 'getSyncHealth',
  method: 'GET',
  path: '/api/agents/sync-health',
  summary: 'Sync state of all accessible agents with a repository',
  tag,
  access: { who: 'any' },
  returns: z.object({
    agents: z.array(
      z.object({
        name: z.string(),
        state: z.enum(syncColours),
        consecutive_failures: z.number().int(),
        last_sync_at: Timestamp.nullable(),
        frozen: z.boolean(),
      }),
    ),
  }),
})

export const getGitLog = endpoint({
  ...reads,
  id: 'getGitLog',
  method: 'GET',
  path: `${path}/log`,
  summary: 'The newest commits of the workspace',
  query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(10) }),
  returns: z.object({ commits: z.array(GitCommit.extend({ short_sha: z.string() })) }),
  fails: requestFails,
})

export const GitLastChange = z.object({
  /** Null, like the fields below, before the first change. */
  direction: z.enum(['push', 'pull']).nullable(),
  from_sha: z.string().nullable(),
  to_sha: z.string().nullable(),
  at: Timestamp.nullable(),
  files: z.array(
    z.object({
      path: z.string(),
      previous_path: z.string().nullable().describe('Previous path of a renamed file.'),
      status: z.enum(changedFileStatuses),
      additions: z.number().int().nullable().describe('Lines; null for a binary file.'),
      deletions: z.number().int().nullable(),
    }),
  ),
  total_files: z.number().int(),
  hidden_files: z.number().int().describe('Number of changed credential files; they are not listed.'),
  diff: z.string().describe('Unified diff in the order of `files`; binary files by name only.'),
  truncated: z.boolean().describe('The diff or the list of files is incomplete.'),
  reason: z.string().nullable().describe('Why there is no change to show; otherwise null.'),
})
export type GitLastChange = z.output<typeof GitLastChange>

export const getGitLastChange = endpoint({
  ...reads,
  id: 'getGitLastChange',
  method: 'GET',
  path: `${path}/last-change`,
  summary: 'The changes of the last sync or pull that changed something',
  description:
    'At most 500 files and 200 KiB of the diff. Credential files are only counted, and known secrets are masked. `reason` reports commits that no longer exist in the workspace.',
  returns: GitLastChange,
  fails: requestFails,
})

/** A relative path inside the workspace, without `..`. */
const GitPath = z
  .string()
  .min(1)
  .max(1000)
  .refine(
    (text) => !text.startsWith('/') && !text.split('/').includes('..') && !text.includes('\0'),
    'must be a path inside the workspace',
  )

const SyncBody = z.object({
  message: z.string().trim().min(1).max(2000).nullish(),
  paths: z.array(GitPath).min(1).max(500).nullish(),
  strategy: z.enum(syncStrategies).default('normal'),
})

export const syncGit = endpoint({
  id: 'syncGit',
  method: 'POST',
  path: `${path}/sync`,
  summary: 'Commit the changes and push them to the working branch',
  description:
    'A conflict has the headers `X-Conflict-Type` and `X-Conflict-Class` in addition to the fields of the body.',
  tag,
  access: { who: 'owner' },
  strict: true,
  params: AgentParams,
  query: inQuery(SyncBody),
  body: SyncBody,
  bodyOptional: true,
  returns: z.object({
    success: z.literal(true),
    commit_sha: z.string().nullable(),
    files_changed: z.number().int(),
    branch: z.string(),
    message: z.string(),
    sync_time: Timestamp,
  }),
  fails: [...requestFails, 'git_conflict', 'sync_in_progress', 'upstream_error', 'conflict'],
  audit: { type: 'git_operation', action: 'sync' },
})

const PullBody = z.object({ strategy: z.enum(pullStrategies).default('clean') })

export const pullGit = endpoint({
  id: 'pullGit',
  method: 'POST',
  path: `${path}/pull`,
  summary: 'Pull the remote changes into the workspace',
  tag,
  access: { who: 'access', writesWorkspace: true },
  strict: true,
  params: AgentParams,
  query: inQuery(PullBody),
  body: PullBody,
  bodyOptional: true,
  returns: z.object({ success: z.literal(true), message: z.string(), commit_sha: z.string().nullable() }),
  fails: [...requestFails, 'agent_not_permitted', 'git_conflict', 'sync_in_progress', 'upstream_error'],
  audit: { type: 'git_operation', action: 'pull' },
})

const Enabled = z.object({ enabled: z.boolean() })
const Switch = z.object({ agent_name: z.string(), enabled: z.boolean() })
const FreezeSwitch = Switch.extend({ freeze_schedules_if_sync_failing: z.boolean() })

export const getAutoSync = endpoint({
  ...reads,
  id: 'getAutoSync',
  method: 'GET',
  path: `${path}/auto-sync`,
  summary: 'Whether the workspace is pushed every 15 minutes',
  returns: Switch,
  fails: unbound,
})
export const putAutoSync = endpoint({
  ...sets,
  id: 'putAutoSync',
  method: 'PUT',
  path: `${path}/auto-sync`,
  summary: 'Enable or disable the push every 15 minutes',
  body: Enabled,
  returns: Switch,
  fails: unbound,
  audit: { type: 'configuration', action: 'set_auto_sync' },
})
export const getPullSync = endpoint({
  ...reads,
  id: 'getPullSync',
  method: 'GET',
  path: `${path}/pull-sync`,
  summary: 'Whether remote changes are pulled automatically',
  returns: Switch,
  fails: unbound,
})
export const putPullSync = endpoint({
  ...sets,
  id: 'putPullSync',
  method: 'PUT',
  path: `${path}/pull-sync`,
  summary: 'Enable or disable automatic pulls',
  body: Enabled,
  returns: Switch,
  fails: unbound,
  audit: { type: 'configuration', action: 'set_pull_sync' },
})
export const getGitFreeze = endpoint({
  ...reads,
  id: 'getGitFreeze',
  method: 'GET',
  path: `${path}/freeze-schedules-if-failing`,
  summary: 'Whether failing syncs pause schedules',
  returns: FreezeSwitch,
  fails: unbound,
})
export const putGitFreeze = endpoint({
  ...sets,
  id: 'putGitFreeze',
  method: 'PUT',
  path: `${path}/freeze-schedules-if-failing`,
  summary: 'Enable or disable pausing schedules after three consecutive failed syncs',
  body: Enabled,
  returns: FreezeSwitch,
  fails: unbound,
  audit: { type: 'configuration', action: 'set_git_freeze' },
})
