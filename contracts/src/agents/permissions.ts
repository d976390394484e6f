import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
import { agentStatuses } from './agent.ts'

const tag = 'Permissions'

const CallableAgent = z.object({
  name: z.string(),
  status: z.enum(agentStatuses),
  type: z.string(),
  permitted: z.boolean(),
})
export type CallableAgent = z.output<typeof CallableAgent>

export const AgentPermissions = z.object({
  source_agent: z.string(),
  /** Agents that the source may call. Others than its owner see only those that they can access. */
  permitted_agents: z.array(CallableAgent),
  /** Every other agent that the caller can access. */
  available_agents: z.array(CallableAgent),
})
export type AgentPermissions = z.output<typeof AgentPermissions>

const fails = ['agent_not_found', 'validation_error'] as const
const EdgeParams = AgentParams.extend({ target: z.string() })
const Edge = z.object({ source_agent: z.string(), target_agent: z.string() })

/** Maximum of agent names; order and duplicates do not matter. */
const maxTargets = 1000

export const getPermissions = endpoint({
  id: 'getAgentPermissions',
  method: 'GET',
  path: '/api/agents/{name}/permissions',
  summary: 'Which agents an agent may call',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentPermissions,
  fails: ['agent_not_found'],
})

export const putPermissions = endpoint({
  id: 'putAgentPermissions',
  method: 'PUT',
  path: '/api/agents/{name}/permissions',
  summary: 'Replace the set of agents that an agent may call',
  description: 'You need access to the added agents. Permissions that are omitted are withdrawn.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ permitted_agents: z.array(z.string()).max(maxTargets) }),
  returns: z.object({
    status: z.literal('updated'),
    source_agent: z.string(),
    permitted_count: z.number().int(),
  }),
  fails,
  audit: { type: 'authorization', action: 'set_permissions' },
})

export const grantPermission = endpoint({
  id: 'grantAgentPermission',
  method: 'POST',
  path: '/api/agents/{name}/permissions/{target}',
  summary: 'Allow an agent to call another one',
  description: 'You need access to both. Granting twice changes nothing.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: EdgeParams,
  returns: Edge.extend({ status: z.literal('granted') }),
  fails,
  audit: { type: 'authorization', action: 'grant_permission' },
})

export const withdrawPermission = endpoint({
  id: 'withdrawAgentPermission',
  method: 'DELETE',
  path: '/api/agents/{name}/permissions/{target}',
  summary: 'Withdraw the permission to call another agent',
  description: 'Applies from the next call on. Withdrawing an absent permission changes nothing.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: EdgeParams,
  returns: Edge.extend({ status: z.literal('withdrawn') }),
  fails,
  audit: { type: 'authorization', action: 'withdraw_permission' },
})

export const listPermissionEdges = endpoint({
  id: 'listPermissionEdges',
  method: 'GET',
  path: '/api/agents/permissions-edges',
  summary: 'All permissions between agents that you can access',
  tag,
  access: { who: 'any' },
  returns: z.object({ edges: z.array(z.object({ source: z.string(), target: z.string() })) }),
})
