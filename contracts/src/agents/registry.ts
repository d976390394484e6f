import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentName, AgentParams, queryInteger, Timestamp } from '../kit/primitives.ts'
import {
  AgentDetails,
  AgentRow,
  Cpu,
  Instructions,
  Memory,
  Resources,
  SelectableRuntime,
  Tags,
} from './agent.ts'
import { TemplateWarning } from './templates.ts'

const tag = 'Agents'

export const Repository = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/(?!\.{1,2}$)[A-Za-z0-9._-]+$/, 'must be "owner/repo"')

/** NFC, trimmed, at most 120 characters; a blank text becomes null. */
export const Label = z
  .string()
  .nullable()
  .transform((text) => text?.normalize('NFC').trim() || null)
  .refine((text) => text === null || [...text].length <= 120, 'must be at most 120 characters')
  .refine((text) => text === null || !/[\p{Cc}\p{Cs}]/u.test(text), 'must not contain control characters')

export const CreateAgent = z.object({
  name: AgentName,
  /** Default: the template's type, or `business-assistant`. */
  type: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters')
    .nullish(),
  template: z.string().trim().min(1).max(300).nullish(),
  runtime: SelectableRuntime.nullish(),
  runtime_model: ModelOverride,
  resources: z.object({ cpu: Cpu.nullish(), memory: Memory.nullish() }).nullish(),
  custom_instructions: Instructions.nullish(),
  github_repo: Repository.nullish(),
  source_branch: z.string().trim().min(1).max(200).nullish(),
  label: Label.optional(),
  tags: Tags.nullish(),
  full_capabilities: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  ephemeral: z
    .object({
      max_executions: z.number().int().min(1).max(100),
      ttl_seconds: z.number().int().min(60).max(604_800),
    })
    .nullish(),
})
export type CreateAgent = z.output<typeof CreateAgent>

export const scheduleErrorCodes = [
  'missing_name',
  'missing_message',
  'missing_cron',
  'invalid_cron_expression',
  'invalid_timezone',
  'not_an_object',
  'too_many_schedules',
] as const
export type ScheduleErrorCode = (typeof scheduleErrorCodes)[number]
export const ScheduleError = z.object({
  index: z.number().int(),
  name: z.string().optional(),
  error: z.enum(scheduleErrorCodes),
  message: z.string(),
})
export type ScheduleError = z.output<typeof ScheduleError>

export const CreatedAgent = AgentRow.extend({
  missing_credentials: z.array(z.string()),
  schedules_created: z.number().int(),
  schedule_errors: z.array(ScheduleError),
  template_warnings: z
    .array(TemplateWarning)
    .describe('Keys of `template.yaml` that are unknown and have no effect.'),
  warnings: z.array(z.string()),
})
export type CreatedAgent = z.output<typeof CreatedAgent>

export const Message = z.object({ message: z.string() })

export const listAgents = endpoint({
  id: 'listAgents',
  method: 'GET',
  path: '/api/agents',
  summary: 'List the agents that you can access',
  tag,
  access: { who: 'any', scopes: ['ops'], guests: true },
  query: z.object({
    tags: z
      .string()
      .max(6000)
      .optional()
      .meta({ description: 'Comma-separated; agents with any of them match.' }),
  }),
  returns: z.array(AgentRow),
})

export const createAgent = endpoint({
  id: 'createAgent',
  method: 'POST',
  path: '/api/agents',
  summary: 'Create an agent and start it',
  description: 'Creates the container, its volumes and its key. A failed request leaves nothing behind.',
  tag,
  access: { who: 'any', gate: 'person', role: 'creator' },
  body: CreateAgent,
  returns: CreatedAgent,
  headers: ['Idempotency-Key'],
  fails: [
    'agent_exists',
    'reserved_agent_name',
    'invalid_model',
    'agent_quota_exceeded',
    'template_unresolvable',
    'upstream_error',
    'human_only',
    'not_configured',
    'container_engine_error',
    'created_resource_gone',
  ],
  audit: { type: 'agent_lifecycle', action: 'create' },
})

export const getAgent = endpoint({
  id: 'getAgent',
  method: 'GET',
  path: '/api/agents/{name}',
  summary: 'Get the details of an agent',
  tag,
  access: { who: 'access', guests: true },
  params: AgentParams,
  returns: AgentDetails,
  fails: ['agent_not_found'],
})

export const deleteAgent = endpoint({
  id: 'deleteAgent',
  method: 'DELETE',
  path: '/api/agents/{name}',
  summary: 'Delete an agent with all its data',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  returns: Message,
  fails: ['agent_not_found', 'system_agent_protected', 'agent_busy'],
  audit: { type: 'agent_lifecycle', action: 'delete' },
})

export const renameAgent = endpoint({
  id: 'renameAgent',
  method: 'PUT',
  path: '/api/agents/{name}/rename',
  summary: 'Rename an agent',
  description: 'Volumes, key, schedules and history stay. A running agent is restarted under the new name.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ new_name: AgentName }),
  returns: z.object({
    message: z.string(),
    old_name: z.string(),
    new_name: z.string(),
    was_running: z.boolean(),
  }),
  fails: [
    'agent_not_found',
    'agent_exists',
    'reserved_agent_name',
    'system_agent_protected',
    'agent_busy',
    'container_engine_error',
  ],
  audit: { type: 'agent_lifecycle', action: 'rename' },
})

const LabelReply = z.object({ agent_name: z.string(), label: z.string().nullable() })

export const getLabel = endpoint({
  id: 'getAgentLabel',
  method: 'GET',
  path: '/api/agents/{name}/label',
  summary: 'The display label',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: LabelReply,
  fails: ['agent_not_found'],
})

export const putLabel = endpoint({
  id: 'putAgentLabel',
  method: 'PUT',
  path: '/api/agents/{name}/label',
  summary: 'Set or clear the display label',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.strictObject({ label: Label }),
  returns: LabelReply,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_label' },
})

export const getAgentInfo = endpoint({
  id: 'getAgentInfo',
  method: 'GET',
  path: '/api/agents/{name}/info',
  summary: "The agent's description from its template",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.looseObject({ agent_name: z.string(), has_template: z.boolean(), status: z.string() }),
  fails: ['agent_not_found'],
})

export const getAgentLogs = endpoint({
  id: 'getAgentLogs',
  method: 'GET',
  path: '/api/agents/{name}/logs',
  summary: "The last lines of the container's output",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({ tail: queryInteger(1, 5000, 100) }),
  returns: z.object({ agent_name: z.string(), logs: z.string() }),
  fails: ['agent_not_found', 'container_engine_error'],
})

const lifecycleFields = <Data extends z.ZodType>(data: Data) => z.object({ event: z.string(), data })

export const agentCreated = eventType({
  name: 'agent.created',
  stored: true,
  fields: lifecycleFields(
    z.object({
      name: z.string(),
      type: z.string(),
      status: z.string(),
      port: z.number(),
      created: Timestamp,
      resources: Resources,
    }),
  ),
})
export const agentDeleted = eventType({
  name: 'agent.deleted',
  stored: true,
  fields: lifecycleFields(z.object({ name: z.string() })),
})
export const agentRenamed = eventType({
  name: 'agent.renamed',
  stored: true,
  fields: lifecycleFields(z.object({ name: z.string(), old_name: z.string(), new_name: z.string() })).extend({
    old_name: z.string(),
    new_name: z.string(),
  }),
})
export const agentLabelChanged = eventType({
  name: 'agent.label_changed',
  stored: true,
  fields: z.object({ label: z.string().nullable() }),
})
export const agentTagsChanged = eventType({
  name: 'agent.tags_changed',
  stored: true,
  fields: z.object({}),
})
