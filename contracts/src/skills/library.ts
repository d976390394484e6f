import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { Timestamp } from '../kit/primitives.ts'
import { SkillSource, syncResults } from './sources.ts'

const tag = 'Skills'

export const skillNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const automations = ['autonomous', 'gated', 'manual'] as const

const text = z.string().nullable()

export const SkillRequirements = z.object({
  packages: z.array(z.string()),
  binaries: z.array(z.string()),
  env: z.array(z.string()),
})
export type SkillRequirements = z.output<typeof SkillRequirements>

export const Skill = z
  .object({
    name: z.string(),
    description: text,
    source: z.string().describe('Name of its source.'),
    source_name: z.string(),
    source_id: z.string(),
    shadowed_by: z
      .array(z.string())
      .describe('Sources with lower priority that have a skill with this name too.'),
    path: z.string().describe('Folder in the repository.'),
    version: z.string().describe('SHA of its git tree.'),
    automation: z.enum(automations).nullable(),
    user_invocable: z.boolean(),
    allowed_tools: z.array(z.string()).describe('As its author wrote them; not enforced.'),
    argument_hint: text,
    requires: SkillRequirements,
    multi_file: z.boolean(),
    file_count: z.number().int(),
    size_bytes: z.number().int(),
  })
  .meta({ id: 'Skill' })
export type Skill = z.output<typeof Skill>

export const SkillDetail = Skill.extend({
  content: z.string().describe('The instruction file, Markdown.'),
  files: z
    .array(z.object({ path: z.string(), size_bytes: z.number().int(), executable: z.boolean() }))
    .describe('Files delivered to agents, relative to the folder of the skill.'),
  warnings: z.array(z.string()).describe('Omitted files with the reasons.'),
}).meta({ id: 'SkillDetail' })
export type SkillDetail = z.output<typeof SkillDetail>

/** Only admins get `url` and the text of `last_error`; others get the class of the error. */
const StatusSource = SkillSource.extend({ url: text })
export const SkillLibraryStatus = z
  .object({
    configured: z.boolean(),
    sources: z.array(StatusSource),
    source_count: z.number().int(),
    enabled_source_count: z.number().int(),
    skill_count: z.number().int(),
    multi_file_count: z.number().int(),
    shadowed_count: z.number().int(),
    last_sync_at: Timestamp.nullable(),
    last_sync_status: SkillSource.shape.last_sync_status.nullable(),
  })
  .meta({ id: 'SkillLibraryStatus' })
export type SkillLibraryStatus = z.output<typeof SkillLibraryStatus>

export const listSkillLibrary = endpoint({
  id: 'listSkillLibrary',
  method: 'GET',
  path: '/api/skills/library',
  summary: 'List all skills of the library by name',
  tag,
  access: { who: 'any' },
  returns: z.array(Skill),
})

export const getSkillLibraryStatus = endpoint({
  id: 'getSkillLibraryStatus',
  method: 'GET',
  path: '/api/skills/library/status',
  summary: 'Status of the library and its sources',
  tag,
  access: { who: 'any' },
  returns: SkillLibraryStatus,
})

export const getLibrarySkill = endpoint({
  id: 'getLibrarySkill',
  method: 'GET',
  path: '/api/skills/library/{name}',
  summary: 'Get a skill with its instructions',
  tag,
  access: { who: 'any' },
  params: z.object({ name: z.string() }),
  returns: SkillDetail,
  fails: ['skill_not_found', 'invalid_skill_name'],
})

const FleetReport = z.object({
  trigger: z.string(),
  commit_sha: text,
  updated: z.array(z.string()),
  skipped: z.array(z.string()),
  failed: z.array(z.string()),
})
export type FleetReport = z.output<typeof FleetReport>

export const SkillsLibrarySettings = z.object({
  auto_sync_enabled: z.boolean(),
  auto_sync_interval_seconds: z.number().int().min(300).max(86_400),
  auto_reinject_enabled: z.boolean(),
})
export type SkillsLibrarySettings = z.output<typeof SkillsLibrarySettings>

const settingsTag = 'Settings'
const path = '/api/settings/skills-library'

export const getSkillsLibrarySettings = endpoint({
  id: 'getSkillsLibrarySettings',
  method: 'GET',
  path,
  summary: 'Settings for automatic syncs and updates of agents',
  tag: settingsTag,
  access: { who: 'admin' },
  returns: SkillsLibrarySettings.extend({ last_fleet_report: FleetReport.nullable() }),
})

export const putSkillsLibrarySettings = endpoint({
  id: 'putSkillsLibrarySettings',
  method: 'PUT',
  path,
  summary: 'Change the settings for automatic syncs and updates of agents',
  tag: settingsTag,
  access: { who: 'admin' },
  body: SkillsLibrarySettings.partial(),
  returns: SkillsLibrarySettings,
  audit: { type: 'configuration', action: 'put_skills_library_settings' },
})

export const skillsLibrarySynced = eventType({
  name: 'skills.library_synced',
  stored: true,
  fields: z.object({
    skills_count: z.number().int(),
    sources: z.array(z.object({ name: z.string(), status: z.enum(syncResults) })),
  }),
})
