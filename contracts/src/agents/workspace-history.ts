import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, queryBoolean, queryInteger, Timestamp } from '../kit/primitives.ts'
import { historyPatternFault } from '../link/history.ts'
import { DiskQuota } from './disk.ts'
import { recordReasons, runRecordOutcomes, runRecordReasons } from './history.ts'
import { FilePath } from './workspace.ts'

const tag = 'History'
const agentPath = '/api/agents/{name}/history'
const recordPath = `${agentPath}/records/{record}` as const
const count = z.number().int()

export const maxListedChanges = 1000
/** A longer diff is cut. */
export const maxShownDiffBytes = 512 * 1024

export const HistoryRecord = z
  .object({
    id: z.string(),
    number: count.describe('Counts the records of the agent.'),
    reason: z
      .enum(recordReasons)
      .describe('Why it was made. `fork`: the first record of an agent made from another one.'),
    created_at: Timestamp,
    base_id: z.string().nullable().describe('The record before it; it may have been removed since.'),
    source_id: z.string().nullable().describe('The record that a restore or a fork was filled from.'),
    is_changed: z.boolean().describe('Whether it differs from the record before it.'),
    added: count,
    changed: count,
    deleted: count,
    renamed: count,
    received_bytes: count.describe('New content that it needed.'),
    left_out_count: count.describe('Paths that were not recorded.'),
    pinned: z.boolean().describe('Retention never removes a pinned record.'),
  })
  .meta({ id: 'HistoryRecord' })
export type HistoryRecord = z.output<typeof HistoryRecord>

export const PathBytes = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,5500}$/, 'must be base64url without padding')
  .describe('The bytes of a path that is not UTF-8, as base64url.')
export const shownPath = {
  path: z.string().describe('Relative to the workspace. Bytes that are not UTF-8 are shown as U+FFFD.'),
  path_bytes: PathBytes.optional().describe(
    'Present only if the path is not UTF-8: its bytes as base64url, to name it in requests.',
  ),
}

const LeftOut = z.object({
  ...shownPath,
  reason: z
    .enum(['rule', 'size', 'special', 'unreadable'])
    .describe('`rule`: a pattern of the settings. `special`: a socket, pipe or device.'),
})
export const HistoryRecordDetails = HistoryRecord.extend({
  left_out: z.array(LeftOut).describe('The first of the paths that were not recorded.'),
}).meta({ id: 'HistoryRecordDetails' })
export type HistoryRecordDetails = z.output<typeof HistoryRecordDetails>

const entryKinds = ['file', 'folder', 'link'] as const
const ChangeSide = z.object({
  kind: z.enum(entryKinds),
  size: count.describe('Bytes; of a link, the length of its target.'),
  mode: z
    .string()
    .regex(/^[0-7]{3,4}$/)
    .describe('Permissions in octal digits.'),
})
export type ChangeSide = z.output<typeof ChangeSide>

export const changeKinds = ['added', 'changed', 'attributes', 'deleted', 'renamed'] as const
const sides = {
  from: z.string().optional().describe('Earlier path of a renamed file.'),
  from_bytes: PathBytes.optional(),
  before: ChangeSide.nullable(),
  after: ChangeSide.nullable(),
}
export const WorkspaceChange = z
  .object({
    ...shownPath,
    change: z.enum(changeKinds).describe('`attributes`: permissions, owner or kind of storage.'),
    ...sides,
  })
  .meta({ id: 'WorkspaceChange' })
export type WorkspaceChange = z.output<typeof WorkspaceChange>

const changeCounts = {
  added: count,
  changed: count,
  attributes: count,
  deleted: count,
  renamed: count,
}
const changes = {
  counts: z.object(changeCounts).describe('Of files and links; what is inside of a `.git` folder is apart.'),
  total: count.describe('Number of changes that the list has in all its pages.'),
  changes: z.array(WorkspaceChange).describe('One page, sorted by path.'),
  git_folders: z
    .array(z.object({ ...shownPath, changes: count }))
    .describe('Changes inside of `.git` folders, summed up; at most 100 folders.'),
  withheld: count.describe('Changes of files that the caller may not read.'),
}
export const WorkspaceChanges = z
  .object({ before: HistoryRecord, after: HistoryRecord, ...changes })
  .meta({ id: 'WorkspaceChanges' })
export type WorkspaceChanges = z.output<typeof WorkspaceChanges>

/** `not_recorded`: the run has no entry, such as runs of older releases. `removed`: retention removed a record. */
export const runChangesStatuses = [...runRecordOutcomes, 'not_recorded', 'removed'] as const
export const RunChanges = z
  .object({
    execution_id: z.string(),
    agent_name: z.string(),
    status: z
      .enum(runChangesStatuses)
      .describe(
        '`recorded`: both records exist. `skipped`: it could not write, or the history is off. `removed`: retention removed a record. `not_recorded`: the run ended before there was a history.',
      ),
    reason: z.enum(runRecordReasons).nullable().describe('Why there is no complete record.'),
    before: HistoryRecord.nullable(),
    after: HistoryRecord.nullable(),
    overlapping_runs: z.array(z.string()).describe('Some of the runs that worked at the same time.'),
    overlapping_count: count,
    ...changes,
  })
  .meta({ id: 'RunChanges' })
export type RunChanges = z.output<typeof RunChanges>

export const diffContents = ['text', 'image', 'binary', 'link', 'folder', 'too_large'] as const
export const WorkspaceDiff = z
  .object({
    ...shownPath,
    change: z.enum([...changeKinds, 'unchanged']),
    ...sides,
    before_id: z.string(),
    after_id: z.string(),
    content: z
      .enum(diffContents)
      .describe('`text` and `link` have a `diff`. `too_large`: above 1 MiB, or too slow to compare.'),
    added_lines: count.nullable(),
    deleted_lines: count.nullable(),
    diff: z.string().nullable().describe('Unified diff without file names.'),
    truncated: z.boolean().describe('The diff is cut at 512 KiB; the line counts are complete.'),
  })
  .meta({ id: 'WorkspaceDiff' })
export type WorkspaceDiff = z.output<typeof WorkspaceDiff>

export const HistoryFolder = z.object({
  record: HistoryRecord,
  ...shownPath,
  entries: z.array(z.object({ name: z.string(), ...shownPath, ...ChangeSide.shape, owner: z.boolean() })),
  total: count,
})
export type HistoryFolder = z.output<typeof HistoryFolder>

const Pattern = z.string().check((found) => {
  const fault = historyPatternFault(found.value)
  if (fault) found.issues.push({ code: 'custom', message: fault, input: found.value })
})
export const HistoryRulesInput = z.object({
  patterns: z
    .array(Pattern)
    .max(100)
    .describe('Patterns of `find`. With a slash they match the path from the workspace, otherwise any name.'),
  max_file_bytes: count.min(0).max(1_000_000_000_000).describe('Larger files are left out.'),
})

export const HistorySettings = z
  .object({
    enabled: z.boolean().describe('Whether runs are recorded.'),
    undo_failed: z.boolean().describe('Whether runs with the rights of the owner are undone if they fail.'),
    start_from_record: z
      .boolean()
      .describe(
        'Whether the agent continues elsewhere from its latest record if its node is lost and its volumes cannot move.',
      ),
    can_lose_node: z
      .boolean()
      .describe('Whether agents run on a cluster of nodes. Otherwise `start_from_record` has no effect.'),
    rules: HistoryRulesInput.describe('What records leave out.'),
    default_rules: HistoryRulesInput,
    is_default_rules: z.boolean(),
    quota_bytes: count.nullable().describe("Null: the installation's default; 0 means unlimited."),
  })
  .meta({ id: 'HistorySettings' })
export type HistorySettings = z.output<typeof HistorySettings>

export const HistorySettingsPatch = z.strictObject({
  enabled: z.boolean().optional(),
  undo_failed: z.boolean().optional(),
  start_from_record: z.boolean().optional(),
  rules: HistoryRulesInput.nullable().optional().describe('Null: the defaults.'),
  quota_bytes: DiskQuota.nullable()
    .optional()
    .describe("Only admins. Null: the installation's default; 0 means unlimited."),
})
export type HistorySettingsPatch = z.output<typeof HistorySettingsPatch>

const RecordParams = AgentParams.extend({ record: z.string() })
const RunParams = z.object({ id: z.string() })
const page = {
  offset: queryInteger(0, 999_999_999, 0),
  limit: queryInteger(1, maxListedChanges, 500),
}
const file = {
  path: FilePath.optional().describe('Relative to the workspace, or absolute.'),
  path_bytes: PathBytes.optional(),
}
const compared = {
  ...file,
  from: FilePath.optional().describe('Earlier path of a renamed file.'),
  from_bytes: PathBytes.optional(),
}
const since = z
  .string()
  .max(64)
  .optional()
  .describe('The record to compare with; default: the one before it.')
const recordFails = ['agent_not_found', 'record_not_found'] as const
const fileFails = [...recordFails, 'file_not_found', 'protected_path'] as const

export const listHistory = endpoint({
  id: 'listHistory',
  method: 'GET',
  path: agentPath,
  summary: "Records of an agent's workspace, newest first",
  description: 'Before and after each run that may write, the workspace is recorded.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    before: queryInteger(1, 999_999_999, 999_999_999).describe('Only records with a smaller `number`.'),
    limit: queryInteger(1, 200, 50),
  }),
  returns: z.object({
    records: z.array(HistoryRecord),
    next_before: count.nullable().describe('`before` of the next page; null on the last one.'),
  }),
  fails: ['agent_not_found'],
})

export const getHistorySettings = endpoint({
  id: 'getHistorySettings',
  method: 'GET',
  path: `${agentPath}/settings`,
  summary: "Settings of an agent's history",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: HistorySettings,
  fails: ['agent_not_found'],
})

export const putHistorySettings = endpoint({
  id: 'putHistorySettings',
  method: 'PUT',
  path: `${agentPath}/settings`,
  summary: "Change settings of an agent's history",
  description: 'Fields that are left out stay as they are. Applies to the next record.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: HistorySettingsPatch,
  returns: HistorySettings,
  fails: ['agent_not_found', 'admin_required'],
  audit: { type: 'configuration', action: 'put_history_settings' },
})

export const getHistoryRecord = endpoint({
  id: 'getHistoryRecord',
  method: 'GET',
  path: recordPath,
  summary: 'A record with what was left out',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  returns: HistoryRecordDetails,
  fails: recordFails,
})

export const pinHistoryRecord = endpoint({
  id: 'pinHistoryRecord',
  method: 'PUT',
  path: `${recordPath}/pin`,
  summary: 'Pin a record so that retention keeps it, or unpin it',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: RecordParams,
  body: z.object({ pinned: z.boolean() }),
  returns: HistoryRecord,
  fails: [...recordFails, 'conflict'],
  audit: { type: 'configuration', action: 'pin_history_record' },
})

export const getRecordChanges = endpoint({
  id: 'getRecordChanges',
  method: 'GET',
  path: `${recordPath}/changes`,
  summary: 'What differs between two records',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  query: z.object({ since, ...page }),
  returns: WorkspaceChanges,
  fails: recordFails,
})

export const getRecordDiff = endpoint({
  id: 'getRecordDiff',
  method: 'GET',
  path: `${recordPath}/diff`,
  summary: 'Differences of one file between two records',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  query: z.object({ since, ...compared }),
  returns: WorkspaceDiff,
  fails: fileFails,
})

export const listRecordFiles = endpoint({
  id: 'listRecordFiles',
  method: 'GET',
  path: `${recordPath}/files`,
  summary: 'A folder as it was at a record',
  description: 'Without a path: the workspace. Files that the caller may not read are left out.',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  query: z.object({ ...file, ...page }),
  returns: HistoryFolder,
  fails: fileFails,
})

const streamed = ['Content-Disposition'] as const

export const getRecordFile = endpoint({
  id: 'getRecordFile',
  method: 'GET',
  path: `${recordPath}/file`,
  summary: 'The content of a file at a record',
  description:
    'With `inline=true` images, PDF and text have a type that is safe to display. Links are refused.',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  query: z.object({ ...file, inline: queryBoolean(false) }),
  streams: [
    'application/octet-stream',
    'text/plain',
    'image/png',
    'image/jpeg',
    'image/gif',
    'image/webp',
    'application/pdf',
  ],
  replyHeaders: streamed,
  fails: [...fileFails, 'conflict'],
})

export const getRecordArchive = endpoint({
  id: 'getRecordArchive',
  method: 'GET',
  path: `${recordPath}/archive`,
  summary: 'The workspace, or a folder of it, at a record as tar.gz',
  description:
    'Only the owner and admins download the whole workspace; others get folders without credentials.',
  tag,
  access: { who: 'access' },
  params: RecordParams,
  query: z.object(file),
  streams: ['application/gzip'],
  replyHeaders: streamed,
  fails: fileFails,
})

export const getRunChanges = endpoint({
  id: 'getRunChanges',
  method: 'GET',
  path: '/api/executions/{id}/changes',
  summary: 'What a run changed in the workspace',
  description:
    'Works for every run that lists show to the caller. Overlapping runs share their records: the changes are those of all of them.',
  tag,
  access: { who: 'any' },
  params: RunParams,
  query: z.object(page),
  returns: RunChanges,
  fails: ['execution_not_found'],
})

export const getRunDiff = endpoint({
  id: 'getRunDiff',
  method: 'GET',
  path: '/api/executions/{id}/changes/diff',
  summary: 'Differences of one file before and after a run',
  tag,
  access: { who: 'any' },
  params: RunParams,
  query: z.object(compared),
  returns: WorkspaceDiff,
  fails: ['execution_not_found', 'record_not_found', 'file_not_found', 'protected_path'],
})
