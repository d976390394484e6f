import { z } from 'zod'
import { EmailAddress } from '../identity/users.ts'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { Share } from './agent.ts'

const tag = 'Sharing'

/** Somebody who may use the agent. */
export const AgentAccess = z.object({
  /** Null: the owner has registered none. */
  email: z.string().nullable(),
  /** Null, like the role: nobody has signed in with this address yet. */
  username: z.string().nullable(),
  role: z.enum(roles).nullable(),
  relation: z.enum(['owner', 'shared']),
  /** When this person last asked this agent for something. */
  last_active_at: Timestamp.nullable(),
  /** `pending`: nobody has signed in with this address yet. */
  status: z.enum(['active', 'pending']),
})
export type AgentAccess = z.output<typeof AgentAccess>

export const shareAgent = endpoint({
  id: 'shareAgent',
  method: 'POST',
  path: '/api/agents/{name}/share',
  summary: 'Share an agent with a person',
  description: 'The address may sign in from then on. It is compared in lower case.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ email: EmailAddress }),
  returns: Share,
  fails: ['agent_not_found', 'self_share', 'already_shared', 'system_agent_protected'],
  audit: { type: 'sharing', action: 'share' },
})

export const unshareAgent = endpoint({
  id: 'unshareAgent',
  method: 'DELETE',
  path: '/api/agents/{name}/share/{email}',
  summary: 'Remove a share',
  description:
    "What the person has open of this agent ends at once, and the person's own agents may not call it any more.",
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
  summary: 'With whom an agent is shared, the newest first',
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
  summary: 'Who may use an agent: its owner first, then those it is shared with',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: z.array(AgentAccess),
  fails: ['agent_not_found'],
})

export const agentShared = eventType({
  name: 'agent.shared',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), shared_with: z.string() }) }),
})
export const agentUnshared = eventType({
  name: 'agent.unshared',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), removed_user: z.string() }) }),
})
