import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { Cpu, Instructions, Memory, runtimes, SelectableRuntime, strangersAccesses } from './agent.ts'

const tag = 'Agent configuration'
const path = (last: string) => `/api/agents/{name}/${last}`
const reads = { who: 'access' } as const
const writes = { who: 'owner', gate: 'person' } as const
const read = { method: 'GET', tag, access: reads, params: AgentParams, fails: ['agent_not_found'] } as const
const write = { method: 'PUT', tag, access: writes, params: AgentParams } as const
const configures = (action: string) => ({ type: 'configuration', action }) as const

const Switch = z.object({ enabled: z.boolean() })

// ── autonomy ───────────────────────────────────────────────────────────────────────────────────────

export const Autonomy = z.object({
  agent_name: z.string(),
  autonomy_enabled: z.boolean(),
  enabled: z.boolean(),
  total_schedules: z.number().int(),
  enabled_schedules: z.number().int(),
  schedules: z.array(z.object({ id: z.string(), name: z.string(), enabled: z.boolean() })),
})
export type Autonomy = z.output<typeof Autonomy>
export const getAutonomy = endpoint({
  ...read,
  id: 'getAutonomy',
  path: path('autonomy'),
  summary: 'Whether the schedules of an agent fire',
  returns: Autonomy,
})
export const putAutonomy = endpoint({
  ...write,
  id: 'putAutonomy',
  path: path('autonomy'),
  summary: 'Enable or disable all schedules of an agent; each keeps its own flag',
  body: Switch,
  returns: Autonomy,
  fails: ['agent_not_found'],
  audit: configures('set_autonomy'),
})

// ── read-only ──────────────────────────────────────────────────────────────────────────────────────

const Pattern = z.string().trim().min(1).max(200)
export const ReadOnlyConfig = z.object({
  blocked_patterns: z.array(Pattern).max(200),
  allowed_patterns: z.array(Pattern).max(200),
})
export type ReadOnlyConfig = z.output<typeof ReadOnlyConfig>
/** The default. `allowed_patterns` override `blocked_patterns`. */
export const defaultReadOnlyConfig: ReadOnlyConfig = {
  allowed_patterns: [
    'content/**',
    'output/**',
    'reports/**',
    'exports/**',
    'uploads/**',
    '.tmp/**',
    '*.log',
    '*.txt',
    'metrics.json',
    '.roost/operator-queue.json',
  ],
  blocked_patterns: [
    ...['*.py', '*.js', '*.ts', '*.jsx', '*.tsx', '*.vue', '*.svelte', '*.go', '*.rs', '*.rb', '*.java'],
    ...['*.c', '*.cpp', '*.h', '*.sh', '*.bash', 'Makefile', 'Dockerfile', 'CLAUDE.md', 'AGENTS.md'],
    ...['README.md', '.claude/**', '.env', '.env.*', '*.yaml', '*.yml', '*.json', '*.toml'],
  ],
}
export const ReadOnly = z.object({ agent_name: z.string(), enabled: z.boolean(), config: ReadOnlyConfig })
/** `now`: the running agent applied the change; `next_start`: it applies at the next start. */
export const Applied = z.enum(['now', 'next_start'])
export const getReadOnly = endpoint({
  ...read,
  id: 'getReadOnly',
  path: path('read-only'),
  summary: 'Whether an agent may change source files in its workspace',
  returns: ReadOnly,
})
export const putReadOnly = endpoint({
  ...write,
  id: 'putReadOnly',
  path: path('read-only'),
  summary: 'Set read-only mode and its patterns',
  body: Switch.extend({ config: ReadOnlyConfig.partial().nullish() }),
  returns: ReadOnly.extend({ applied: Applied }),
  fails: ['agent_not_found', 'system_agent_protected'],
  audit: configures('set_read_only'),
})

// ── limits ─────────────────────────────────────────────────────────────────────────────────────────

export const minTimeoutSeconds = 60
export const maxTimeoutSeconds = 7200
export const Timeout = z.object({
  agent_name: z.string(),
  execution_timeout_seconds: z.number().int(),
  execution_timeout_minutes: z.number(),
})
export const getTimeout = endpoint({
  ...read,
  id: 'getTimeout',
  path: path('timeout'),
  summary: 'Get the execution timeout',
  returns: Timeout,
})
export const putTimeout = endpoint({
  ...write,
  id: 'putTimeout',
  path: path('timeout'),
  summary: 'Set the execution timeout',
  body: z.object({
    execution_timeout_seconds: z.number().int().min(minTimeoutSeconds).max(maxTimeoutSeconds),
  }),
  returns: Timeout,
  fails: ['agent_not_found', 'agent_timeout_below_active_schedules'],
  audit: configures('set_timeout'),
})

export const Slot = z.object({
  execution_id: z.string(),
  started_at: Timestamp,
  message_preview: z.string(),
  duration_seconds: z.number(),
})
export type Slot = z.output<typeof Slot>
export const Capacity = z.object({
  agent_name: z.string(),
  /** As stored; a value above the ceiling is clamped when it is applied. */
  max_parallel_tasks: z.number().int(),
  ceiling: z.number().int(),
  effective_max_parallel_tasks: z.number().int(),
  active_slots: z.number().int(),
  available_slots: z.number().int(),
  queued: z.number().int(),
  slots: z.array(Slot),
})
export type Capacity = z.output<typeof Capacity>
export const getCapacity = endpoint({
  ...read,
  id: 'getCapacity',
  path: path('capacity'),
  summary: 'Parallel executions: limit, ceiling and usage',
  returns: Capacity,
})
export const putCapacity = endpoint({
  ...write,
  id: 'putCapacity',
  path: path('capacity'),
  summary: 'Set the number of parallel executions, up to the ceiling',
  body: z.object({ max_parallel_tasks: z.number().int().min(1) }),
  returns: Capacity,
  fails: ['agent_not_found'],
  audit: configures('set_capacity'),
})

// ── container ──────────────────────────────────────────────────────────────────────────────────────

export const AgentResources = z.object({
  agent_name: z.string(),
  cpu: z.string(),
  memory: z.string(),
  /** Resources of the current container; null without one. */
  current_cpu: z.string().nullable(),
  current_memory: z.string().nullable(),
  restart_needed: z.boolean(),
})
export const getResources = endpoint({
  ...read,
  id: 'getResources',
  path: path('resources'),
  summary: 'CPU and memory of the container',
  returns: AgentResources,
})
export const putResources = endpoint({
  ...write,
  id: 'putResources',
  path: path('resources'),
  summary: 'Set CPU and memory; applies when the container is recreated',
  body: z
    .object({ cpu: Cpu.nullish(), memory: Memory.nullish() })
    .refine((body) => body.cpu != null || body.memory != null, 'must have cpu or memory'),
  returns: AgentResources,
  fails: ['agent_not_found'],
  audit: configures('set_resources'),
})

export const Capabilities = z.object({
  agent_name: z.string(),
  full_capabilities: z.boolean(),
  current_full_capabilities: z.boolean().nullable(),
  restart_needed: z.boolean(),
})
export const getCapabilities = endpoint({
  ...read,
  id: 'getCapabilities',
  path: path('capabilities'),
  summary: 'Whether the container has full capabilities (sudo)',
  returns: Capabilities,
})
export const putCapabilities = endpoint({
  ...write,
  id: 'putCapabilities',
  path: path('capabilities'),
  summary: 'Enable or disable full capabilities; applies when the container is recreated',
  body: z.object({ full_capabilities: z.boolean() }),
  returns: Capabilities,
  fails: ['agent_not_found'],
  audit: configures('set_capabilities'),
})

export const AgentRuntime = z.object({
  agent_name: z.string(),
  runtime: z.enum(runtimes),
  restart_needed: z.boolean(),
})
export const getRuntime = endpoint({
  ...read,
  id: 'getRuntime',
  path: path('runtime'),
  summary: 'The coding CLI that runs the turns',
  returns: AgentRuntime,
})
export const putRuntime = endpoint({
  ...write,
  id: 'putRuntime',
  path: path('runtime'),
  summary: 'Change the runtime; applies when the container is recreated',
  body: z.object({ runtime: SelectableRuntime }),
  returns: AgentRuntime,
  fails: ['agent_not_found'],
  audit: configures('set_runtime'),
})

// ── turns ──────────────────────────────────────────────────────────────────────────────────────────

export const modelSources = ['agent', 'template', 'platform', 'runtime'] as const
export const AgentModel = z.object({
  agent_name: z.string(),
  model: z.string().nullable(),
  /** Null: the runtime's own default. */
  resolved_model: z.string().nullable(),
  source: z.enum(modelSources),
})
export const getModel = endpoint({
  ...read,
  id: 'getModel',
  path: path('model'),
  summary: 'The model of new turns and its source',
  returns: AgentModel,
})
export const putModel = endpoint({
  ...write,
  id: 'putModel',
  path: path('model'),
  summary: 'Set the model; null restores the default',
  /** The key is required: a misspelt one must not clear the model. */
  body: z.object({ model: ModelOverride.unwrap() }),
  returns: AgentModel,
  fails: ['agent_not_found', 'invalid_model'],
  audit: configures('set_model'),
})

export const CustomInstructions = z.object({
  agent_name: z.string(),
  custom_instructions: z.string().nullable(),
})
export const getInstructions = endpoint({
  ...read,
  id: 'getInstructions',
  access: { who: 'owner' },
  path: path('instructions'),
  summary: "The agent's own instructions",
  returns: CustomInstructions,
})
export const putInstructions = endpoint({
  ...write,
  id: 'putInstructions',
  path: path('instructions'),
  summary: "Set the agent's own instructions; blank or null removes them",
  body: z.object({ custom_instructions: Instructions.nullable() }),
  returns: CustomInstructions,
  fails: ['agent_not_found'],
  audit: configures('set_instructions'),
})

// ── switches ───────────────────────────────────────────────────────────────────────────────────────

export const OperatorResume = z.object({ agent_name: z.string(), enabled: z.boolean() })
export const getOperatorResume = endpoint({
  ...read,
  id: 'getOperatorResume',
  path: path('operator-resume'),
  summary: 'Whether an answer from the operator queue resumes the work',
  returns: OperatorResume,
})
export const putOperatorResume = endpoint({
  ...write,
  id: 'putOperatorResume',
  path: path('operator-resume'),
  summary: 'Enable or disable resuming after an answer from the operator queue',
  body: Switch,
  returns: OperatorResume,
  fails: ['agent_not_found'],
  audit: configures('set_operator_resume'),
})

export const Strangers = z.object({ agent_name: z.string(), access: z.enum(strangersAccesses) })
export const getStrangers = endpoint({
  ...read,
  id: 'getStrangers',
  path: path('strangers'),
  summary: 'What turns of strangers may do with the workspace',
  returns: Strangers,
})
export const putStrangers = endpoint({
  ...write,
  id: 'putStrangers',
  path: path('strangers'),
  summary: 'Set what turns of strangers may do with the workspace',
  description:
    'Strangers are visitors of public links, payers and people in Slack. Applies to their next turn. They never ' +
    'read files with credentials.',
  body: z.object({ access: z.enum(strangersAccesses) }),
  returns: Strangers,
  fails: ['agent_not_found'],
  audit: configures('set_strangers'),
})

export const McpExposed = z.object({ agent_name: z.string(), enabled: z.boolean(), tool_name: z.string() })
export const getMcpExposed = endpoint({
  ...read,
  id: 'getMcpExposed',
  path: path('mcp-exposed'),
  summary: 'Whether the agent has its own MCP tool',
  returns: McpExposed,
})
export const putMcpExposed = endpoint({
  ...write,
  id: 'putMcpExposed',
  path: path('mcp-exposed'),
  summary: 'Publish or unpublish the agent as its own MCP tool',
  body: Switch,
  returns: McpExposed,
  fails: ['agent_not_found', 'system_agent_protected'],
  audit: configures('set_mcp_exposed'),
})

/** For the MCP server: the agents with their own tool. */
export const listExposedAgents = endpoint({
  id: 'listExposedAgents',
  method: 'GET',
  path: '/api/internal/mcp-exposed-agents',
  summary: 'The agents that are published as MCP tools',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: z.object({
    agents: z.array(
      z.object({
        agent_name: z.string(),
        tool_name: z.string(),
        description: z.string().describe("The agent's label, or its name."),
      }),
    ),
  }),
})

// ── SSH ────────────────────────────────────────────────────────────────────────────────────────────

export const GrantSshAccess = z.object({
  ttl_hours: z
    .number()
    .min(0.1)
    .max(24)
    .nullish()
    .transform((hours) => hours ?? 4),
  public_key: z.string().trim().max(16_384).nullish(),
})
export const SshAccess = z.object({
  status: z.literal('granted'),
  agent_name: z.string(),
  auth_method: z.literal('key'),
  /** Only if the platform generated the pair, and only in this reply. */
  private_key: z.string().optional(),
  connection: z.object({
    command: z.string(),
    host: z.string(),
    port: z.number().int(),
    user: z.literal('developer'),
  }),
  host_keys: z
    .array(z.string())
    .describe(
      'Public host keys of the SSH server, as type and base64, for `known_hosts`. Empty until the server runs, and for agents that have not restarted since an upgrade from 0.1.0.',
    ),
  expires_at: Timestamp,
  expires_in_hours: z.number(),
  instructions: z.array(z.string()),
})
export type SshAccess = z.output<typeof SshAccess>
export const grantSshAccess = endpoint({
  id: 'grantSshAccess',
  method: 'POST',
  path: path('ssh-access'),
  summary: 'Allow an SSH key for a limited time',
  tag,
  access: writes,
  params: AgentParams,
  body: GrantSshAccess,
  bodyOptional: true,
  returns: SshAccess,
  fails: ['agent_not_found', 'ssh_disabled', 'agent_stopped', 'conflict', 'agent_unresponsive'],
  audit: { type: 'credentials', action: 'grant_ssh_access' },
})

export const agentSettingsChanged = eventType({
  name: 'agent.settings_changed',
  stored: true,
  fields: z.object({ setting: z.string() }),
})
