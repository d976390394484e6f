import { z } from 'zod'
import { keyScopes } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Agents'
/** Only signed-in people may inspect an agent's own key. */
const shared = {
  tag,
  access: { who: 'owner', gate: 'human' },
  params: AgentParams,
} as const

export const keyHealths = [
  'missing',
  'env_absent',
  'env_mismatch',
  'never_used',
  'stale',
  'active',
  'exempt',
] as const
export const AgentKey = z.object({
  agent_name: z.string(),
  exists: z.boolean(),
  key_id: z.string().nullable(),
  key_prefix: z.string().nullable(),
  scope: z.enum(keyScopes).nullable(),
  created_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
  usage_count: z.number().int(),
  health: z.enum(keyHealths),
  health_detail: z.string().nullable(),
  rotatable: z.boolean(),
})
export type AgentKey = z.output<typeof AgentKey>

export const getAgentKey = endpoint({
  ...shared,
  id: 'getAgentKey',
  method: 'GET',
  path: '/api/agents/{name}/mcp-key',
  summary: "State of the agent's own key, without the key",
  returns: AgentKey,
  fails: ['agent_not_found'],
})

export const keyVerdicts = [
  'ok',
  'foreign_user_key',
  'foreign_ops_key',
  'foreign_agent_key',
  'unknown_key',
  'not_configured',
  'shadow_entry',
  'unavailable',
] as const
export const AgentKeyCheck = z.object({
  agent_name: z.string(),
  verdict: z.enum(keyVerdicts),
  message: z.string().nullable(),
  /** The entries of the workspace's `.mcp.json` that point to this platform. */
  entries: z.array(
    z.object({
      server_name: z.string(),
      verdict: z.enum(keyVerdicts),
      key_scope: z.enum(keyScopes).nullable(),
      key_prefix: z.string().nullable(),
    }),
  ),
})
export type AgentKeyCheck = z.output<typeof AgentKeyCheck>

export const verifyAgentKey = endpoint({
  ...shared,
  id: 'verifyAgentKey',
  method: 'POST',
  path: '/api/agents/{name}/mcp-key/verify',
  summary: 'Check the keys that the container uses for this platform',
  returns: AgentKeyCheck,
  fails: ['agent_not_found', 'rate_limited'],
  audit: { type: 'credentials', action: 'verify_agent_key' },
})

export const NewAgentKey = z.object({
  agent_name: z.string(),
  key_id: z.string(),
  key_prefix: z.string(),
  /** A running agent is recreated immediately; a stopped one gets the key at its next start. */
  delivery: z.enum(['recreated', 'next_start']),
  superseded_key_id: z.string().nullable(),
})

export const regenerateAgentKey = endpoint({
  ...shared,
  id: 'regenerateAgentKey',
  method: 'POST',
  path: '/api/agents/{name}/mcp-key/regenerate',
  summary: 'Replace the key of an agent; the previous one is invalid immediately',
  description: 'A running agent is restarted with the new key, which cancels its running executions.',
  returns: NewAgentKey,
  fails: ['agent_not_found', 'agent_busy', 'container_engine_error', 'system_agent_protected'],
  audit: { type: 'credentials', action: 'regenerate_agent_key' },
})
