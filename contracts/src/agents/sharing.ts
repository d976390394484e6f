import { z } from 'zod'
import { EmailAddress } from '../identity/users.ts'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { Share, shareAccesses } from './agent.ts'

const tag = 'Sharing'

/** A person who may use the agent. */
export const AgentAccess = z.object({
  /** Null: the owner has no registered address. */
  email: z.string().nullable(),
  /** Null, like the role, until the first sign-in with this address. */
  username: z.string().nullable(),
  role: z.enum(roles).nullable(),
  relation: z.enum(['owner', 'shared']),
  access: z.enum(['owner', ...shareAccesses]),
  /** Time of the person's last request to this agent. */
  last_active_at: Timestamp.nullable(),
  /** `pending` until the first sign-in with this address. */
  status: z.enum(['active', 'pending']),
})
export type AgentAccess = z.output<typeof AgentAccess>

export const shareAgent = endpoint({
  id: 'shareAgent',
  method: 'POST',
  path: '/api/agents/{name}/share',
  summary: 'Share an agent with a person',
  description:
    'The address may sign in from now on. It is compared in lower case. With the access `read`, turns and requests ' +
    'of the person do not change the workspace, and read no credentials.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ email: EmailAddress, access: z.enum(shareAccesses).default('write') }),
  returns: Share,
  fails: ['agent_not_found', 'self_share', 'already_shared', 'system_agent_protected'],
  audit: { type: 'sharing', action: 'share' },
})

export const changeShare = endpoint({
  id: 'changeShare',
  method: 'PUT',
  path: '/api/agents/{name}/share/{email}',
  summary: 'Change what a share permits',
  description: 'Applies to the next turn of the person and to their next request.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams.extend({ email: z.string() }),
  body: z.object({ access: z.enum(shareAccesses) }),
  returns: Share,
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'sharing', action: 'change_share' },
})

export const unshareAgent = endpoint({
  id: 'unshareAgent',
  method: 'DELETE',
  path: '/api/agents/{name}/share/{email}',
  summary: 'Remove a share',
  description:
    "The person's open streams of this agent end immediately, and their own agents may no longer call it.",
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams.extend({ email: z.string() }),
  returns: z.object({ message: z.string() }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'sharing', action: 'unshare' },
})

export const listShares = endpoint({
  id: 'listAgentShares',
  method: 'GET',
  path: '/api/agents/{name}/shares',
  summary: 'List the shares of an agent, newest first',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: z.array(Share),
  fails: ['agent_not_found'],
})

export const listAccess = endpoint({
  id: 'listAgentAccess',
  method: 'GET',
  path: '/api/agents/{name}/access',
  summary: 'List people with access to an agent, its owner first',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: z.array(AgentAccess),
  fails: ['agent_not_found'],
})

export const agentShared = eventType({
  name: 'agent.shared',
  stored: true,
  fields: z.object({
    event: z.string(),
    data: z.object({ name: z.string(), shared_with: z.string(), access: z.enum(shareAccesses) }),
  }),
})
export const agentUnshared = eventType({
  name: 'agent.unshared',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), removed_user: z.string() }) }),
})
