import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, queryInteger, Timestamp } from '../kit/primitives.ts'
import { restoreConflictReasons } from '../link/history-restore.ts'
import { restoreProgress, restoreReasons } from './history.ts'
import { FilePath } from './workspace.ts'
import { HistoryRecord, PathBytes, shownPath } from './workspace-history.ts'

const tag = 'History'
const path = '/api/agents/{name}/history/restores'
const count = z.number().int()
/** The open one, and those that have ended. */
const maxListedRestores = 51

/**
 * What is restored, and to when: a record, or the workspace before or after a run. Unknown names are refused, because
 * without a path everything is restored.
 */
export const RestoreTarget = z.strictObject({
  record: z.string().max(64).optional(),
  run: z.string().max(64).optional(),
  side: z.enum(['before', 'after']).default('before').describe('Only with `run`.'),
  path: FilePath.optional().describe('A file or a folder; default: the whole workspace.'),
  path_bytes: PathBytes.optional(),
})
export type RestoreTarget = z.output<typeof RestoreTarget>

const summary = {
  added: count,
  changed: count,
  attributes: count,
  deleted: count,
  conflicts: z
    .array(z.object({ ...shownPath, reason: z.enum([...restoreConflictReasons, 'changed_meanwhile']) }))
    .describe(
      'The first paths that stay as they are. `changed_meanwhile`: both the workspace and a kept attempt changed it.',
    ),
  conflict_count: count,
}

export const RestorePreview = z.object({
  record: HistoryRecord,
  ...summary,
  changes: z.array(
    z.object({
      ...shownPath,
      kind: z.enum(['file', 'folder', 'link']),
      change: z.enum(['added', 'changed', 'attributes', 'deleted']),
    }),
  ),
  total: count.describe('All changes; the list has the first 1,000.'),
})
export type RestorePreview = z.output<typeof RestorePreview>

export const Restore = z.object({
  id: z.string(),
  record: z.string(),
  run: z
    .string()
    .nullable()
    .describe('The failed run that it undoes because of a setting; null if a person asked for it.'),
  state: z
    .enum(restoreProgress)
    .describe(
      '`waiting`: runs are still working. `applying`: the agent completes it. `unchanged` and `failed`: the workspace is as it was.',
    ),
  reason: z.enum(restoreReasons).nullable().describe('Why it failed, or what it waits for.'),
  message: z.string().nullable().describe('More about the reason.'),
  undo_record: z.string().nullable().describe('The record made before it: restore that one to undo it.'),
  after_record: z.string().nullable().describe('The record made after it.'),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  ...summary,
})
export type Restore = z.output<typeof Restore>

const access = { who: 'owner', gate: 'person' } as const
const fails = [
  'agent_not_found',
  'record_not_found',
  'execution_not_found',
  'protected_path',
  'agent_stopped',
  'agent_busy',
  'agent_unresponsive',
  'agent_program_outdated',
  'conflict',
] as const

export const previewRestore = endpoint({
  id: 'previewRestore',
  method: 'POST',
  path: `${path}/preview`,
  summary: 'What a restore would change',
  tag,
  access,
  params: AgentParams,
  body: RestoreTarget,
  returns: RestorePreview,
  fails,
  audit: { type: 'configuration', action: 'preview_restore' },
})

export const startRestore = endpoint({
  id: 'startRestore',
  method: 'POST',
  path,
  summary: 'Restore the workspace, a folder or a file',
  description: 'The workspace is recorded before, so that the restore can be undone.',
  tag,
  access,
  params: AgentParams,
  body: RestoreTarget.extend({
    when_busy: z
      .enum(['wait', 'stop', 'refuse'])
      .default('refuse')
      .describe('While runs work: wait for them, stop them, or fail with `agent_busy`.'),
  }),
  status: 202,
  returns: Restore,
  fails,
  audit: { type: 'configuration', action: 'restore_workspace' },
})

export const listRestores = endpoint({
  id: 'listRestores',
  method: 'GET',
  path,
  summary: 'The restores of an agent, newest first',
  description: 'The open one, if there is one, and the last 50 that have ended.',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  query: z.object({ limit: queryInteger(1, maxListedRestores, 20) }),
  returns: z.object({ restores: z.array(Restore) }),
  fails: ['agent_not_found'],
})

export const getRestore = endpoint({
  id: 'getRestore',
  method: 'GET',
  path: `${path}/{restore}`,
  summary: 'The state of a restore',
  tag,
  access: { who: 'owner' },
  params: AgentParams.extend({ restore: z.string() }),
  returns: Restore,
  fails: ['agent_not_found', 'not_found'],
})

export const cancelRestore = endpoint({
  id: 'cancelRestore',
  method: 'POST',
  path: `${path}/{restore}/cancel`,
  summary: 'Cancel a restore that waits',
  description: 'Runs that are being stopped for it are stopped all the same.',
  tag,
  access,
  params: AgentParams.extend({ restore: z.string() }),
  returns: Restore,
  fails: ['agent_not_found', 'not_found', 'restore_begun', 'already_finished'],
  audit: { type: 'configuration', action: 'cancel_restore' },
})
