import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentName } from '../kit/primitives.ts'
import { Cpu, defaultAgentType, Memory, runtimes } from './agent.ts'

const tag = 'Templates'

const Texts = z
  .array(z.string().max(2000))
  .max(500)
  .nullish()
  .transform((texts) => texts ?? [])
const OptionalText = z
  .string()
  .max(10_000)
  .nullish()
  .transform((text) => text ?? null)

const anything = z.unknown().optional()

/** Describes a name of `credentials`. Values are read leniently; a value of the wrong type is ignored. */
export const TemplateCredentialSetup = z.looseObject({
  name: z.string().max(200),
  title: anything,
  description: anything,
  required: anything,
  secret: anything,
  format: anything,
  setup_url: anything,
  default: anything,
  hosts: anything,
})

/** A metric as declared. The agent's metrics omit an invalid one. */
const TemplateMetric = z.looseObject({
  name: z.string().max(200),
  type: anything,
  label: anything,
  description: anything,
  unit: anything,
  warning_threshold: anything,
  critical_threshold: anything,
  values: anything,
})

/** Something in `template.yaml` that has no effect. */
export const TemplateWarning = z
  .object({
    path: z.string().describe('The path in the file, such as `credentials.env` or `schedules[0].retries`.'),
    message: z.string(),
  })
  .meta({ id: 'TemplateWarning' })
export type TemplateWarning = z.output<typeof TemplateWarning>

/**
 * `template.yaml` as its author writes it. Keys that are not named here have no effect and become warnings, except
 * those that start with `x-`. `schedules` is parsed entry by entry: a malformed one is dropped with a named error.
 */
export const TemplateFile = z.object({
  name: AgentName,
  display_name: z.string().min(1).max(200),
  description: z.string().min(1).max(10_000),
  type: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .transform((type) => type ?? defaultAgentType),
  resources: z
    .object({ cpu: Cpu.nullish(), memory: Memory.nullish() })
    .nullish()
    .transform((resources) => ({ cpu: resources?.cpu ?? null, memory: resources?.memory ?? null })),
  runtime: z
    .object({ type: z.enum(runtimes).nullish(), model: z.string().max(200).nullish() })
    .nullish()
    .transform((runtime) => ({ type: runtime?.type ?? 'claude-code', model: runtime?.model ?? null })),
  credentials: z
    .object({
      mcp_servers: z
        .record(z.string(), z.object({ env_vars: Texts }).nullish())
        .nullish()
        .transform((servers) =>
          Object.fromEntries(
            Object.entries(servers ?? {}).map(([name, server]) => [
              name,
              { env_vars: server?.env_vars ?? [] },
            ]),
          ),
        ),
      env_file: Texts,
      config_files: Texts,
    })
    .nullish()
    .transform((credentials) => credentials ?? { mcp_servers: {}, env_file: [], config_files: [] }),
  credential_setup: z
    .array(TemplateCredentialSetup)
    .max(200)
    .nullish()
    .transform((items) => items ?? []),
  schedules: z.unknown().optional(),
  shared_folders: z
    .object({ expose: z.boolean().nullish(), consume: z.boolean().nullish() })
    .nullish()
    .transform((folders) => ({ expose: folders?.expose ?? false, consume: folders?.consume ?? false })),
  metrics: z
    .array(TemplateMetric)
    .max(100)
    .nullish()
    .transform((items) => items ?? []),
  skills: z
    .array(z.union([z.string(), z.object({ name: z.string(), description: z.string().nullish() })]))
    .max(200)
    .nullish()
    .transform((skills) =>
      (skills ?? []).map((skill) =>
        typeof skill === 'string'
          ? { name: skill, description: null }
          : { name: skill.name, description: skill.description ?? null },
      ),
    ),
  tags: Texts,
  hidden: z
    .boolean()
    .nullish()
    .transform((hidden) => hidden ?? false),
  version: OptionalText,
  author: OptionalText,
  updated: OptionalText,
  tagline: OptionalText,
  use_cases: Texts,
  capabilities: Texts,
  platforms: Texts,
  sub_agents: Texts,
  commands: Texts,
  mcp_servers: Texts,
  slash_commands: Texts,
})
export type TemplateFile = z.output<typeof TemplateFile>

const TemplateResources = z.object({ cpu: z.string().nullable(), memory: z.string().nullable() })

/** One row of the list. */
export const TemplateEntry = z.object({
  /** `local:<name>` or `github:owner/repo`. */
  id: z.string(),
  name: z.string(),
  display_name: z.string(),
  description: z.string(),
  source: z.enum(['local', 'git']),
  github_repo: z.string().nullable(),
  resources: TemplateResources,
  runtime: z.enum(runtimes),
  mcp_servers: z.array(z.string()),
  required_credentials: z.array(z.object({ name: z.string(), source: z.string() })),
  schedules_count: z.number().int(),
  warnings_count: z.number().int().describe('Number of `template_warnings` in the details.'),
  metadata_unavailable: z.boolean(),
})
export type TemplateEntry = z.output<typeof TemplateEntry>

export const TemplateSchedule = z.object({
  name: z.string(),
  cron: z.string(),
  message: z.string(),
  enabled: z.boolean(),
  timezone: z.string(),
  description: z.string().nullable(),
})
export type TemplateSchedule = z.output<typeof TemplateSchedule>

const texts = z.array(z.string())

/** The entry with the contents of `template.yaml`. */
export const TemplateDetails = TemplateEntry.extend({
  type: z.string(),
  model: z.string().nullable(),
  credentials: z.object({
    mcp_servers: z.record(z.string(), z.object({ env_vars: texts })),
    env_file: texts,
    config_files: texts,
  }),
  credential_setup: z.array(z.looseObject({ name: z.string() })),
  schedules: z.array(TemplateSchedule),
  template_warnings: z.array(TemplateWarning),
  shared_folders: z.object({ expose: z.boolean(), consume: z.boolean() }),
  metrics: z.array(z.looseObject({})),
  skills: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
  tags: texts,
  hidden: z.boolean(),
  version: z.string().nullable(),
  author: z.string().nullable(),
  updated: z.string().nullable(),
  tagline: z.string().nullable(),
  use_cases: texts,
  capabilities: texts,
  platforms: texts,
  sub_agents: texts,
  commands: texts,
  slash_commands: texts,
})
export type TemplateDetails = z.output<typeof TemplateDetails>

const TemplateParams = z.object({ id: z.string().max(300) })

export const listTemplates = endpoint({
  id: 'listTemplates',
  method: 'GET',
  path: '/api/templates',
  summary: 'List the templates for new agents',
  tag,
  access: { who: 'any' },
  returns: z.array(TemplateEntry),
})

export const getTemplate = endpoint({
  id: 'getTemplate',
  method: 'GET',
  path: '/api/templates/{id}',
  summary: 'Get the details of a template',
  tag,
  access: { who: 'any' },
  params: TemplateParams,
  returns: TemplateDetails,
  fails: ['template_not_found', 'template_unresolvable', 'upstream_error'],
})

export const getTemplateEnv = endpoint({
  id: 'getTemplateEnv',
  method: 'GET',
  path: '/api/templates/{id}/env',
  summary: 'A .env file of the template to fill in',
  tag,
  access: { who: 'any' },
  params: TemplateParams,
  streams: ['text/plain'],
  fails: ['template_not_found', 'template_unresolvable', 'upstream_error'],
})

export const refreshTemplates = endpoint({
  id: 'refreshTemplates',
  method: 'POST',
  strict: true,
  path: '/api/templates/refresh',
  summary: 'Reload all templates',
  tag,
  access: { who: 'admin' },
  returns: z.object({
    refreshed: z.number().int(),
    failed: z.array(z.object({ id: z.string(), error: z.string() })),
  }),
  audit: { type: 'configuration', action: 'refresh_templates' },
})
