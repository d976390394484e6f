import { z } from 'zod'
import { Cpu, Memory } from '../agents/agent.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Settings'
const admin = { who: 'admin' } as const
const adminPerson = { who: 'admin', gate: 'person' } as const
const configures = (action: string) => ({ type: 'configuration', action }) as const

export const settingKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const maxValueBytes = 16 * 1024
const utf8 = new TextEncoder()

/** `updated_at` is null for a default value. */
export const Setting = z
  .object({ key: z.string(), value: z.string(), updated_at: Timestamp.nullable() })
  .meta({ id: 'Setting' })
export type Setting = z.output<typeof Setting>

const SettingParams = z.object({ key: z.string() })
const WritableSettingParams = z.object({
  key: z
    .string()
    .regex(
      settingKeyPattern,
      'must be 1 to 128 letters, digits, ".", "_" and "-", starting with a letter or digit',
    ),
})

export const listSettings = endpoint({
  id: 'listSettings',
  method: 'GET',
  path: '/api/settings',
  summary: 'List stored settings, ordered by key; secrets are not settings',
  tag,
  access: admin,
  returns: z.array(Setting),
})

export const getSetting = endpoint({
  id: 'getSetting',
  method: 'GET',
  path: '/api/settings/{key}',
  summary: 'Get a setting; a known key that is not stored has its default',
  tag,
  access: admin,
  params: SettingParams,
  returns: Setting,
  fails: ['setting_not_found'],
})

export const putSetting = endpoint({
  id: 'putSetting',
  method: 'PUT',
  path: '/api/settings/{key}',
  summary: 'Store a plain setting',
  description:
    'Rejects these keys in any letter case: `api_key`, `token`, `secret`, `pat`, `password` and `credentials`, as whole keys and as endings after `_`; the secrets of the platform itself; and keys with a dedicated route, which `route` in the reply names. Unknown keys are stored as text.',
  tag,
  access: admin,
  params: WritableSettingParams,
  body: z.object({
    value: z.string().refine((text) => utf8.encode(text).length <= maxValueBytes, 'must be at most 16 KiB'),
  }),
  returns: Setting,
  fails: ['secret_setting_key', 'dedicated_setting_key', 'invalid_model'],
  audit: configures('put_setting'),
})

export const deleteSetting = endpoint({
  id: 'deleteSetting',
  method: 'DELETE',
  path: '/api/settings/{key}',
  summary: 'Reset a setting to its default',
  tag,
  access: admin,
  params: SettingParams,
  returns: z.object({ message: z.string(), key: z.string() }),
  fails: ['setting_not_found', 'secret_setting_key', 'dedicated_setting_key'],
  audit: configures('delete_setting'),
})

export const featureFlags = [
  'voice',
  'voip',
  'workspace',
  'chat_sessions',
  'two_factor',
  'public_links',
  'paid_chat',
  'usage_sharing',
  'dispatch_breaker',
  'email_login',
  'slack',
] as const
export type FeatureFlag = (typeof featureFlags)[number]
export const FeatureFlags = z.record(z.enum(featureFlags), z.boolean()).meta({ id: 'FeatureFlags' })

export const getFeatureFlags = endpoint({
  id: 'getFeatureFlags',
  method: 'GET',
  path: '/api/settings/feature-flags',
  summary: 'Get the features that are enabled',
  tag,
  access: { who: 'any' },
  returns: FeatureFlags,
})

const OpsValue = z.union([z.string(), z.number(), z.boolean()])
export const OpsSetting = z.object({
  value: OpsValue,
  default: OpsValue,
  description: z.string(),
  min: z.number().optional(),
  max: z.number().optional(),
  is_default: z.boolean(),
})
export type OpsSetting = z.output<typeof OpsSetting>

export const getOpsConfig = endpoint({
  id: 'getOpsConfig',
  method: 'GET',
  path: '/api/settings/ops/config',
  summary: 'Get thresholds, intervals and retention windows',
  tag,
  access: admin,
  returns: z.object({ settings: z.record(z.string(), OpsSetting) }),
})

export const putOpsConfig = endpoint({
  id: 'putOpsConfig',
  method: 'PUT',
  path: '/api/settings/ops/config',
  summary: 'Change thresholds, intervals and retention windows',
  description:
    'Unknown keys are ignored and listed. One invalid value rejects the whole request, with `errors`.',
  tag,
  access: admin,
  body: z.object({ settings: z.record(z.string(), OpsValue) }),
  returns: z.object({ success: z.literal(true), updated: z.array(z.string()), ignored: z.array(z.string()) }),
  fails: ['invalid_ops_value'],
  audit: configures('put_ops_config'),
})

export const resetOps = endpoint({
  id: 'resetOps',
  method: 'POST',
  path: '/api/settings/ops/reset',
  summary: 'Reset thresholds and intervals; retention windows stay as they are',
  tag,
  access: admin,
  strict: true,
  returns: z.object({
    success: z.literal(true),
    message: z.string(),
    reset: z.array(z.string()),
    skipped: z.array(z.string()),
  }),
  audit: configures('reset_ops_config'),
})

const Ceiling = z.object({
  value: z.number().int(),
  default: z.number().int(),
  min: z.number().int(),
  max: z.number().int(),
})

export const getMaxParallelTasksCeiling = endpoint({
  id: 'getMaxParallelTasksCeiling',
  method: 'GET',
  path: '/api/settings/max-parallel-tasks-ceiling',
  summary: 'Get the platform limit of concurrent runs per agent',
  tag,
  access: { who: 'any' },
  returns: Ceiling,
})

export const putMaxParallelTasksCeiling = endpoint({
  id: 'putMaxParallelTasksCeiling',
  method: 'PUT',
  path: '/api/settings/max-parallel-tasks-ceiling',
  summary: 'Set the platform limit of concurrent runs per agent, from the next run on',
  tag,
  access: admin,
  body: z.object({ value: z.number().int().min(1).max(32) }),
  returns: Ceiling,
  audit: configures('put_max_parallel_tasks_ceiling'),
})

const DefaultResources = z.object({
  cpu: Cpu,
  memory: Memory,
  allowed_cpu: z.array(z.string()),
  min_memory: z.string(),
  max_memory: z.string(),
})

export const getAgentDefaultResources = endpoint({
  id: 'getAgentDefaultResources',
  method: 'GET',
  path: '/api/settings/agent-defaults/resources',
  summary: 'Get the default CPU and memory of new agents',
  tag,
  access: admin,
  returns: DefaultResources,
})

export const putAgentDefaultResources = endpoint({
  id: 'putAgentDefaultResources',
  method: 'PUT',
  path: '/api/settings/agent-defaults/resources',
  summary: 'Set the default CPU and memory of new agents; existing agents keep theirs',
  tag,
  access: admin,
  body: z
    .object({ cpu: Cpu.nullish(), memory: Memory.nullish() })
    .refine((body) => body.cpu != null || body.memory != null, 'must have cpu or memory'),
  returns: DefaultResources,
  audit: configures('put_agent_default_resources'),
})

export const providers = ['anthropic', 'google', 'openai', 'github', 'voice'] as const
export const Provider = z.enum(providers)
export type Provider = z.output<typeof Provider>

/** `hint`: the last 4 characters; null for a key of fewer than 16. A stored key overrides the environment. */
export const ProviderKey = z.object({
  provider: Provider,
  configured: z.boolean(),
  source: z.enum(['env', 'stored', 'none']),
  hint: z.string().nullable(),
  last_tested_at: Timestamp.nullable(),
  last_test_ok: z.boolean().nullable(),
})
export type ProviderKey = z.output<typeof ProviderKey>

const ProviderParams = z.object({ provider: Provider })

export const listProviderKeys = endpoint({
  id: 'listProviderKeys',
  method: 'GET',
  path: '/api/settings/api-keys',
  summary: 'List providers with the source of their key, never the keys',
  tag,
  access: admin,
  returns: z.object({ providers: z.array(ProviderKey) }),
})

export const ProviderKeyBody = z.object({
  api_key: z
    .string()
    .trim()
    .min(8, 'must have at least 8 characters')
    .max(4096)
    .regex(/^[\x21-\x7e]+$/, 'must be one word of printable characters'),
})

export const putProviderKey = endpoint({
  id: 'putProviderKey',
  method: 'PUT',
  path: '/api/settings/api-keys/{provider}',
  summary: 'Store the key of a provider; it overrides the environment',
  tag,
  access: adminPerson,
  params: ProviderParams,
  body: ProviderKeyBody,
  returns: ProviderKey,
  audit: { type: 'credentials', action: 'put_provider_key' },
})

export const deleteProviderKey = endpoint({
  id: 'deleteProviderKey',
  method: 'DELETE',
  path: '/api/settings/api-keys/{provider}',
  summary: 'Delete the stored key of a provider; a key in the environment applies again',
  tag,
  access: adminPerson,
  params: ProviderParams,
  returns: ProviderKey,
  audit: { type: 'credentials', action: 'delete_provider_key' },
})
