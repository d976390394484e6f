import { z } from 'zod'
import { agentNamePattern, Timestamp } from '../kit/primitives.ts'
import { DiskUsage } from './disk.ts'

/** Schemas of an agent that several features share. */

export const agentStatuses = ['running', 'stopped', 'exited'] as const
export type AgentStatus = (typeof agentStatuses)[number]

export const runtimes = ['claude-code', 'gemini-cli', 'codex'] as const
export type Runtime = (typeof runtimes)[number]

/** Runtimes that a request may name; `codex` is chosen by a template only. */
export const SelectableRuntime = z.enum(['claude-code', 'gemini-cli'], {
  error: (issue) =>
    issue.input === 'codex'
      ? 'must not be codex: only a template can select it'
      : 'must be "claude-code" or "gemini-cli"',
})

export const cpuChoices = ['1', '2', '4', '8', '16'] as const
export const Cpu = z.enum(cpuChoices, { error: 'must be one of "1", "2", "4", "8", "16" (a string)' })
export const memoryPattern = /^([1-9]|[12][0-9]|3[0-2])g$/
export const Memory = z
  .string({ error: 'must be a string from "1g" to "32g"' })
  .regex(memoryPattern, 'must be "1g" to "32g" in whole gigabytes')
export const Resources = z.object({ cpu: Cpu, memory: Memory })
export type Resources = z.output<typeof Resources>

const utf8 = new TextEncoder()
/** At most 32 KiB of UTF-8. */
export const Instructions = z
  .string()
  .refine((text) => utf8.encode(text).length <= 32 * 1024, 'must be at most 32 KiB')

/** Lower-cased and trimmed; letters, digits and hyphens. */
export const Tag = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9-]{1,50}$/, 'must be 1 to 50 letters, digits and hyphens')
export const maxTags = 100
export const Tags = z.array(Tag).max(maxTags, `must be at most ${maxTags} tags`)

/** True for organizational tags, which only a signed-in person adds or removes. */
export function isOrganizationalTag(tag: string): boolean {
  return tag.startsWith('dept-') || tag.startsWith('reports-to-')
}

/** Routes under `/api/agents/`; these names cannot be agents. */
export const reservedAgentNames = [
  'autonomy-status',
  'context-stats',
  'execution-stats',
  'slots',
  'permissions-edges',
  'sync-health',
  'scheduler',
  'avatars',
] as const
export const reservedAgentPrefix = 'roost-'

export const defaultAgentType = 'business-assistant'
export const systemAgentName = 'roost-system'

/** True for text that has the form of an agent name; the agent may not exist. */
export function isAgentName(name: string): boolean {
  return agentNamePattern.test(name)
}

export const AgentRow = z
  .object({
    name: z.string(),
    type: z.string(),
    status: z.enum(agentStatuses),
    /** SSH port of the container; 0 without one. */
    port: z.number().int(),
    created: Timestamp,
    runtime: z.enum(runtimes),
    runtime_model: z.string().nullable(),
    resources: Resources,
    template: z.string().nullable(),
    container_id: z.string().nullable(),
    tags: z.array(z.string()),
    label: z.string().nullable(),
    owner: z.string(),
    is_owner: z.boolean(),
    is_shared: z.boolean(),
    is_system: z.boolean(),
    ephemeral: z.boolean(),
    autonomy_enabled: z.boolean(),
    read_only_enabled: z.boolean(),
    github_repo: z.string().nullable(),
    avatar_url: z.string(),
    max_parallel_tasks: z.number().int(),
    /** Version of the container's image; null without a container. */
    base_image_version: z.string().nullable(),
  })
  .meta({ id: 'Agent' })
export type AgentRow = z.output<typeof AgentRow>

export const heartbeatStates = ['alive', 'stale', 'unsupported'] as const
export type HeartbeatState = (typeof heartbeatStates)[number]

export const recreateReasons = [
  'resources',
  'capabilities',
  'runtime',
  'agent_key',
  'shared_folders',
  /** The outbound mode requires another network. */
  'egress',
  'image_version',
  /** Another OCI runtime is set. */
  'isolation',
  /** Only in replies to a start: another program occupied the port. */
  'ssh_port',
] as const
export type RecreateReason = (typeof recreateReasons)[number]

/** What a person's turns may do with the workspace. With `read`, turns have a scratch folder of their own. */
export const shareAccesses = ['read', 'write'] as const
export type ShareAccess = (typeof shareAccesses)[number]
/** The same for people who are unknown to the platform: visitors, payers, people in Slack. */
export const strangersAccesses = ['none', 'read', 'write'] as const
export type StrangersAccess = (typeof strangersAccesses)[number]

export const Share = z.object({
  id: z.string(),
  agent_name: z.string(),
  shared_with_email: z.string(),
  access: z.enum(shareAccesses),
  shared_by_id: z.string(),
  shared_by_email: z.string().nullable(),
  created_at: Timestamp,
})

export const isolationLevels = ['own_kernel', 'container', 'sandbox', 'none'] as const
export type IsolationLevel = (typeof isolationLevels)[number]

/** How the engine isolates an agent. */
export const AgentIsolation = z.object({
  level: z
    .enum(isolationLevels)
    .describe('own_kernel: a container with a kernel of its own, as with gVisor and Kata.'),
  runtime: z
    .string()
    .nullable()
    .describe('The OCI runtime of the container; null where the engine has none.'),
  weaker: z.array(z.string()).describe('What is less isolated than in a container.'),
})

/** Why a container does not run although it should. */
export const AgentWaiting = z.object({
  state: z
    .enum(['pending', 'lost'])
    .describe(
      'pending: the engine cannot run it yet. lost: its node is unreachable; it may still run there.',
    ),
  reason: z.string().describe("The engine's sentence."),
  since: Timestamp,
})
export type AgentWaiting = z.output<typeof AgentWaiting>

export const AgentDetails = AgentRow.extend({
  can_share: z.boolean(),
  can_delete: z.boolean(),
  /** Whether the caller may change files of the workspace. */
  workspace_access: z.enum(shareAccesses),
  /** Owner and admins only. */
  shares: z.array(Share).optional(),
  execution_timeout_seconds: z.number().int(),
  /** Owner and admins only. */
  custom_instructions: z.string().nullable().optional(),
  mcp_exposed: z.boolean(),
  operator_resume: z.boolean(),
  circuit_breaker: z.object({ enabled: z.boolean(), open: z.boolean() }),
  needs_recreate: z.boolean(),
  recreate_reasons: z.array(z.enum(recreateReasons)),
  heartbeat_state: z.enum(heartbeatStates),
  last_heartbeat_age_seconds: z.number().nullable(),
  isolation: AgentIsolation,
  disk: DiskUsage,
  /** Owner and admins only; null for others, and when nothing waits. */
  waiting: AgentWaiting.nullable(),
  /** Owner and admins only; null for others, and for an agent that is no fork. */
  forked_from: z
    .object({
      agent_name: z.string().describe('Its name now, or at the time of the fork.'),
      can_open: z.boolean().describe('False: it was deleted, or the caller has no access to it.'),
      record: z.string().describe('The record; it may have been removed since.'),
      record_at: Timestamp,
    })
    .nullable(),
})
export type AgentDetails = z.output<typeof AgentDetails>
