import { z } from 'zod'
import { VerifyEmailCode } from '../identity/email-login.ts'
import { EmailAddress } from '../identity/users.ts'
import type { Access } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { QueueItem, RespondBody } from '../operations/operator-queue.ts'

export const workspaceTag = 'Workspace'
const tag = workspaceTag
export const workspacePath = (path: string) => `/api/enterprise/client-portal${path}`
export const workspaceAgentPath = (path: string) => workspacePath(`/agents/{name}${path}`)

/** A Workspace session or a platform session; API keys are refused. */
export const workspaceAccess: Access = { who: 'workspace', gate: 'human' }
const access = workspaceAccess
const smallBody = 16 * 1024

export const workspaceSession = { idleSeconds: 7 * 86_400, longestSeconds: 30 * 86_400 } as const

const text = z.string().nullable()
const time = Timestamp.nullable()
const count = z.number().int()

export const requestWorkspaceCode = endpoint({
  id: 'requestWorkspaceCode',
  method: 'POST',
  path: workspacePath('/auth/request'),
  summary: 'Request a Workspace code by e-mail',
  description: 'The reply is the same whether or not an agent is shared with the address.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  body: z.object({ email: EmailAddress }),
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true), message: z.string() }),
  fails: ['email_login_disabled', 'rate_limited'],
  audit: { type: 'authentication', action: 'request_workspace_code' },
})

export const verifyWorkspaceCode = endpoint({
  id: 'verifyWorkspaceCode',
  method: 'POST',
  path: workspacePath('/auth/verify'),
  summary: 'Open a Workspace session with a code',
  description: 'The token expires after 7 days without use, and after 30 days at the latest.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  body: VerifyEmailCode,
  bodyLimit: smallBody,
  returns: z.object({ token: z.string(), email: z.string(), expires_at: Timestamp }),
  fails: ['invalid_code', 'email_login_disabled', 'rate_limited', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'workspace_sign_in' },
})

export const exchangeWorkspaceSession = endpoint({
  id: 'exchangeWorkspaceSession',
  method: 'POST',
  path: workspacePath('/auth/exchange'),
  summary: 'Open a Workspace session for a person whom the caller has identified',
  description:
    'Only with a key of scope `portal_delegate`; requires the entitlement `portal_delegate_exchange`.',
  tag,
  access: { who: 'any', scopes: ['portal_delegate'], refuses: ['user', 'agent', 'system'] },
  body: z.object({ email: EmailAddress }),
  returns: z.object({ token: z.string(), email: z.string(), expires_in: count.describe('Seconds.') }),
  fails: ['scope_not_allowed', 'entitlement_required', 'agent_access_denied'],
  audit: { type: 'authentication', action: 'workspace_exchange' },
})

export const leaveWorkspace = endpoint({
  id: 'leaveWorkspace',
  method: 'POST',
  path: workspacePath('/auth/logout'),
  summary: 'End this Workspace session',
  description: 'A platform session gets the same reply and stays valid.',
  tag,
  access,
  returns: z.object({ status: z.literal('logged_out') }),
  audit: { type: 'authentication', action: 'workspace_sign_out' },
})

export const RosterAgent = z
  .object({
    name: z.string(),
    label: text,
    owner: text,
    avatar_url: z.string(),
    shared_at: time,
    owned: z.boolean(),
    description: text,
    state: z.enum(['ready', 'stopped', 'unreachable']),
    playbooks: z.array(z.object({ title: z.string(), description: text, starter_prompt: z.string() })),
    voice_available: z.boolean(),
    can_manage_canvases: z.boolean(),
    unread: count.describe('Unread messages of the agent.'),
  })
  .meta({ id: 'RosterAgent' })
export type RosterAgent = z.output<typeof RosterAgent>

export const listMyAgents = endpoint({
  id: 'listWorkspaceAgents',
  method: 'GET',
  path: workspacePath('/my-agents'),
  summary: 'Agents that the person owns or that are shared with them',
  tag,
  access,
  returns: z.object({
    client_email: text,
    agents: z.array(RosterAgent),
    model_options: z.array(z.object({ id: z.string(), label: z.string() })),
  }),
})

const AskParams = z.object({ id: z.string() })

export const listAsks = endpoint({
  id: 'listWorkspaceAsks',
  method: 'GET',
  path: workspacePath('/asks'),
  summary: 'Questions of agents to this person',
  tag,
  access,
  returns: z.object({ asks: z.array(QueueItem) }),
})

export const answerAsk = endpoint({
  id: 'answerWorkspaceAsk',
  method: 'POST',
  path: workspacePath('/asks/{id}/answer'),
  summary: 'Answer a question of an agent',
  tag,
  access,
  params: AskParams,
  body: RespondBody,
  returns: QueueItem,
  fails: ['not_found', 'item_not_pending', 'item_diverged', 'option_not_offered'],
  audit: { type: 'operator_queue', action: 'respond' },
})

const ClientParams = z.object({ name: z.string(), email: z.string() })
export const Client = z
  .object({ email: z.string(), last_active_at: time, message_count: count, blocked: z.boolean() })
  .meta({ id: 'WorkspaceClient' })
export type Client = z.output<typeof Client>
const clientFails = ['agent_not_found', 'owner_required', 'not_found'] as const

export const listClients = endpoint({
  id: 'listWorkspaceClients',
  method: 'GET',
  path: workspaceAgentPath('/clients'),
  summary: 'People who use an agent in the Workspace, for its owner',
  tag,
  access,
  params: AgentParams,
  returns: z.array(Client),
  fails: ['agent_not_found', 'owner_required'],
})

export const logOutClient = endpoint({
  id: 'logOutWorkspaceClient',
  method: 'POST',
  path: workspaceAgentPath('/clients/{email}/logout'),
  summary: 'End the Workspace sessions of a person the agent is shared with',
  tag,
  access,
  params: ClientParams,
  returns: Client,
  fails: clientFails,
  audit: { type: 'sharing', action: 'log_out_client' },
})

export const blockClient = endpoint({
  id: 'blockWorkspaceClient',
  method: 'POST',
  path: workspaceAgentPath('/clients/{email}/block'),
  summary: 'Block an address from an agent in the Workspace, for admins',
  tag,
  access,
  params: ClientParams,
  returns: Client,
  fails: [...clientFails, 'admin_required'],
  audit: { type: 'sharing', action: 'block_client' },
})

export const unblockClient = endpoint({
  id: 'unblockWorkspaceClient',
  method: 'POST',
  path: workspaceAgentPath('/clients/{email}/unblock'),
  summary: 'Unblock an address, for admins',
  tag,
  access,
  params: ClientParams,
  returns: Client,
  fails: [...clientFails, 'admin_required'],
  audit: { type: 'sharing', action: 'unblock_client' },
})
