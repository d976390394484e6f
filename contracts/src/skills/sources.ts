import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp } from '../kit/primitives.ts'

const tag = 'Skill sources'
const access = { who: 'admin', gate: 'human' } as const
const audited = (action: string) => ({ type: 'configuration', action }) as const

export const customPriority = 100
export const communityPriority = 1000
export const syncResults = ['ok', 'failed', 'busy', 'moved_tag'] as const
const text = z.string().nullable()

export const SkillSource = z
  .object({
    id: Id,
    name: z.string(),
    url: z.string(),
    ref: z.string(),
    ref_type: z.enum(['branch', 'tag']),
    is_default: z.boolean().describe('The built-in community source.'),
    enabled: z.boolean(),
    priority: z
      .number()
      .int()
      .describe('Of two skills with the same name, the source with the lower number wins.'),
    last_sync_at: Timestamp.nullable(),
    last_sync_status: z.enum(['success', 'failed', 'moved_tag', 'never']),
    last_commit_sha: text,
    last_error: text,
    skills_root: text.describe('Folder of the repository that contains the skills.'),
    layout_conflict: z.boolean().describe('The repository has more than one layout; the first one applies.'),
    skill_count: z.number().int(),
    created_by: text,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'SkillSource' })
export type SkillSource = z.output<typeof SkillSource>

const fields = {
  name: z.string().trim().min(1, 'must not be empty').max(100),
  // An invalid address or ref is 400 `invalid_skill_source`.
  url: z.string().max(500),
  ref: z.string().max(200),
  ref_type: z.enum(['branch', 'tag']),
  enabled: z.boolean(),
  priority: z.number().int().min(1).max(10_000),
}
export const CreateSkillSource = z.object({
  ...fields,
  ref: fields.ref.default('main'),
  ref_type: fields.ref_type.default('branch'),
  enabled: fields.enabled.default(true),
  priority: fields.priority.default(customPriority),
})
export type CreateSkillSource = z.output<typeof CreateSkillSource>
export const UpdateSkillSource = z.object(fields).partial()
export type UpdateSkillSource = z.output<typeof UpdateSkillSource>

export const SkillSync = z
  .object({
    success: z.boolean(),
    skills_count: z.number().int(),
    message: z.string(),
    commit_changed: z.boolean(),
    sources: z.array(
      z.object({
        id: Id,
        name: z.string(),
        status: z
          .enum(syncResults)
          .describe(
            '`busy`: another worker syncs it. `moved_tag`: the tag points to another commit; nothing changed.',
          ),
        commit_sha: text,
        skill_count: z.number().int().nullable(),
        error: text,
      }),
    ),
    fleet_reinject_started: z.boolean(),
  })
  .meta({ id: 'SkillSync' })
export type SkillSync = z.output<typeof SkillSync>

const SourceParams = z.object({ id: z.string() })
const syncFails = ['sync_failed', 'sync_in_progress'] as const

export const syncSkillLibrary = endpoint({
  id: 'syncSkillLibrary',
  method: 'POST',
  strict: true,
  path: '/api/skills/library/sync',
  summary: 'Sync all enabled sources',
  description:
    '400 `sync_failed` if every source fails; 409 `sync_in_progress` if all are already being synced.',
  tag,
  access,
  returns: SkillSync,
  fails: syncFails,
  audit: audited('sync_skill_library'),
})

export const listSkillSources = endpoint({
  id: 'listSkillSources',
  method: 'GET',
  path: '/api/skills/sources',
  summary: 'List skill sources in the order of name resolution',
  tag,
  access,
  returns: z.object({ sources: z.array(SkillSource) }),
})

export const createSkillSource = endpoint({
  id: 'createSkillSource',
  method: 'POST',
  path: '/api/skills/sources',
  summary: 'Register a repository of skills; sync it afterwards',
  tag,
  access,
  body: CreateSkillSource,
  status: 201,
  returns: SkillSource,
  fails: ['invalid_skill_source', 'already_exists'],
  audit: audited('create_skill_source'),
})

export const updateSkillSource = endpoint({
  id: 'updateSkillSource',
  method: 'PUT',
  path: '/api/skills/sources/{id}',
  summary: 'Change a source; after a new repository or ref, the next sync pins it again',
  tag,
  access,
  params: SourceParams,
  body: UpdateSkillSource,
  returns: SkillSource,
  fails: ['source_not_found', 'invalid_skill_source', 'already_exists'],
  audit: audited('update_skill_source'),
})

export const deleteSkillSource = endpoint({
  id: 'deleteSkillSource',
  method: 'DELETE',
  path: '/api/skills/sources/{id}',
  summary: 'Remove a source; agents keep its skills, marked as stale',
  tag,
  access,
  params: SourceParams,
  returns: z.object({ deleted: z.literal(true), source_id: Id }),
  fails: ['source_not_found'],
  audit: audited('delete_skill_source'),
})

export const syncSkillSource = endpoint({
  id: 'syncSkillSource',
  method: 'POST',
  path: '/api/skills/sources/{id}/sync',
  summary: 'Sync one source',
  tag,
  access,
  params: SourceParams,
  returns: SkillSync,
  fails: ['source_not_found', ...syncFails],
  audit: audited('sync_skill_source'),
})
