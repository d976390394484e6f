import { z } from 'zod'
import { VerifyEmailCode } from '../identity/email-login.ts'
import { EmailAddress } from '../identity/users.ts'
import type { Access } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, megabyte, messageBodyLimit, queryInteger, Timestamp } from '../kit/primitives.ts'
import { QueueItem, RespondBody } from '../operations/operator-queue.ts'
import { FileAttachments } from '../runs/attachments.ts'
import { Terminated } from '../runs/executions.ts'
import { runFails } from '../runs/request.ts'
import { FileNote } from './chat.ts'

const tag = 'Workspace'
export const workspacePrefix = '/api/enterprise/client-portal'
const at = (path: string) => `${workspacePrefix}${path}`
const ofAgent = (path: string) => at(`/agents/{name}${path}`)

/** A Workspace session or a person's own; API keys are refused. */
const access: Access = { who: 'workspace', gate: 'human' }

export const workspaceSession = { idleSeconds: 7 * 86_400, longestSeconds: 30 * 86_400 } as const
export const workspaceMessageLength = 8000
export const maxDocumentBytes = 25 * megabyte
/** Documents of one person with one agent together. */
export const maxInboxBytes = 100 * megabyte

const text = z.string().nullable()
const time = Timestamp.nullable()
const count = z.number().int()
const ItemParams = z.object({ name: z.string(), id: z.string() })
const sourceNames = ['text', 'voice', 'schedule', 'reminder'] as const

// ── signing in ─────────────────────────────────────────────────────────────────────────────────────

export const requestWorkspaceCode = endpoint({
  id: 'requestWorkspaceCode',
  method: 'POST',
  path: at('/auth/request'),
  summary: 'Ask for a Workspace code by mail',
  description: 'The answer is the same whether an agent is shared with the address or not.',
  tag,
  access: { who: 'none' },
  body: z.object({ email: EmailAddress }),
  returns: z.object({ success: z.literal(true), message: z.string() }),
  fails: ['email_login_disabled', 'rate_limited'],
  audit: { type: 'authentication', action: 'request_workspace_code' },
})

export const verifyWorkspaceCode = endpoint({
  id: 'verifyWorkspaceCode',
  method: 'POST',
  path: at('/auth/verify'),
  summary: 'Open a Workspace session with a code',
  description: 'The token ends after 7 days without use, and after 30 days in any case.',
  tag,
  access: { who: 'none' },
  body: VerifyEmailCode,
  returns: z.object({ token: z.string(), email: z.string(), expires_at: Timestamp }),
  fails: ['invalid_code', 'email_login_disabled', 'rate_limited', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'workspace_sign_in' },
})

export const exchangeWorkspaceSession = endpoint({
  id: 'exchangeWorkspaceSession',
  method: 'POST',
  path: at('/auth/exchange'),
  summary: 'Open a Workspace session for somebody that the caller has identified',
  description:
    'With a key of scope `portal_delegate` alone; needs the entitlement `portal_delegate_exchange`.',
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
  path: at('/auth/logout'),
  summary: 'End this Workspace session',
  description: "A person's own session answers the same and stays valid.",
  tag,
  access,
  returns: z.object({ status: z.literal('logged_out') }),
  audit: { type: 'authentication', action: 'workspace_sign_out' },
})

// ── who and what there is ──────────────────────────────────────────────────────────────────────────

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
    unread: count.describe('Messages of the agent that were not read yet.'),
  })
  .meta({ id: 'RosterAgent' })
export type RosterAgent = z.output<typeof RosterAgent>

export const listMyAgents = endpoint({
  id: 'listWorkspaceAgents',
  method: 'GET',
  path: at('/my-agents'),
  summary: 'Agents that are shared with the person, or owned',
  tag,
  access,
  returns: z.object({
    client_email: text,
    agents: z.array(RosterAgent),
    model_options: z.array(z.object({ id: z.string(), label: z.string() })),
  }),
})

export const Conversation = z
  .object({
    id: Id,
    agent_name: z.string(),
    title: text,
    is_main: z.boolean(),
    archived_at: time,
    message_count: count,
    created_at: Timestamp,
    last_message_at: time,
    starred: z.boolean(),
    unread: count,
  })
  .meta({ id: 'WorkspaceConversation' })
export type Conversation = z.output<typeof Conversation>

export const listAllConversations = endpoint({
  id: 'listWorkspaceConversations',
  method: 'GET',
  path: at('/sessions'),
  summary: 'Conversations with all agents, the last used first',
  tag,
  access,
  returns: z.object({ sessions: z.array(Conversation) }),
})

export const searchConversations = endpoint({
  id: 'searchWorkspace',
  method: 'GET',
  path: at('/search'),
  summary: 'Find words in own conversations',
  tag,
  access,
  query: z.object({ q: z.string().trim().min(1).max(200), limit: queryInteger(1, 100, 20) }),
  returns: z.object({
    query: z.string(),
    results: z.array(
      z.object({
        agent_name: z.string(),
        session_id: Id,
        title: text,
        snippet: z.string(),
        last_message_at: time,
      }),
    ),
  }),
})

// ── conversations ──────────────────────────────────────────────────────────────────────────────────

const Title = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\r\n]*$/, 'must be one line')

export const listConversations = endpoint({
  id: 'listWorkspaceSessions',
  method: 'GET',
  path: ofAgent('/sessions'),
  summary: 'Conversations with one agent; Main is made when there is none',
  tag,
  access,
  params: AgentParams,
  returns: z.object({ agent_name: z.string(), sessions: z.array(Conversation) }),
  fails: ['agent_not_found'],
})

export const createConversation = endpoint({
  id: 'createWorkspaceSession',
  method: 'POST',
  path: ofAgent('/sessions'),
  summary: 'Begin a conversation beside Main',
  tag,
  access,
  params: AgentParams,
  body: z.object({ title: Title.nullish() }),
  bodyOptional: true,
  status: 201,
  returns: Conversation,
  fails: ['agent_not_found'],
  audit: { type: 'execution', action: 'create_conversation' },
})

export const resetMain = endpoint({
  id: 'resetWorkspaceMain',
  method: 'POST',
  path: ofAgent('/sessions/main/reset'),
  summary: 'Archive Main and begin a new one',
  tag,
  access,
  params: AgentParams,
  returns: z.object({ main_session_id: Id, archived_session_id: text }),
  fails: ['agent_not_found', 'turn_in_progress'],
  audit: { type: 'execution', action: 'reset_conversation' },
})

export const renameConversation = endpoint({
  id: 'renameWorkspaceSession',
  method: 'PATCH',
  path: ofAgent('/sessions/{id}'),
  summary: 'Name a conversation; Main keeps its name',
  tag,
  access,
  params: ItemParams,
  body: z.object({ title: Title }),
  returns: Conversation,
  fails: ['agent_not_found', 'session_not_found', 'conflict'],
  audit: { type: 'execution', action: 'rename_conversation' },
})

const ChatState = z.object({ id: Id, starred: z.boolean(), unread: count })
const StateParams = z.object({ id: z.string() })

export const starConversation = endpoint({
  id: 'starWorkspaceSession',
  method: 'PUT',
  path: at('/chat-state/{id}/star'),
  summary: 'Star a conversation, or take the star away',
  tag,
  access,
  params: StateParams,
  body: z.object({
    starred: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
  }),
  bodyOptional: true,
  returns: ChatState,
  fails: ['session_not_found'],
  audit: { type: 'execution', action: 'star_conversation' },
})

export const readConversation = endpoint({
  id: 'readWorkspaceSession',
  method: 'POST',
  path: at('/chat-state/{id}/read'),
  summary: 'Everything in a conversation was read',
  tag,
  access,
  params: StateParams,
  returns: ChatState,
  fails: ['session_not_found'],
  audit: { type: 'execution', action: 'read_conversation' },
})

export const getWorkspaceHistory = endpoint({
  id: 'getWorkspaceHistory',
  method: 'GET',
  path: ofAgent('/history'),
  summary: 'Messages of Main or of another conversation, oldest first',
  tag,
  access,
  params: AgentParams,
  query: z.object({ session_id: z.string().optional(), limit: queryInteger(1, 500, 100) }),
  returns: z.object({
    agent_name: z.string(),
    session_id: Id,
    messages: z.array(
      z.object({
        id: Id,
        role: z.enum(['user', 'assistant']),
        content: z.string(),
        created_at: Timestamp,
        my_rating: z.enum(['up', 'down']).nullable(),
        source: z.enum(sourceNames),
        voice_call_id: text,
        files: z.array(FileNote),
      }),
    ),
    in_flight_execution_id: text,
    last_turn_outcome: z
      .object({ execution_id: z.string(), category: z.string(), message: z.string(), retryable: z.boolean() })
      .nullable()
      .describe('Why the last turn came to nothing; null when it did not.'),
    truncated: z.boolean(),
  }),
  fails: ['agent_not_found', 'session_not_found'],
})

// ── turns ──────────────────────────────────────────────────────────────────────────────────────────

export const WorkspaceChatBody = z.object({
  message: z.string().trim().min(1).max(workspaceMessageLength),
  session_id: z.string().max(64).nullish().describe('Main without it.'),
  new_thread: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  model: ModelOverride,
  files: FileAttachments,
  open_canvas_id: z.string().max(64).nullish(),
})
export type WorkspaceChatBody = z.output<typeof WorkspaceChatBody>

const turnFails = [
  'agent_not_found',
  'session_not_found',
  'conflict',
  'turn_in_progress',
  'request_in_progress',
  'rate_limited',
  ...runFails,
] as const

export const sendWorkspaceChat = endpoint({
  id: 'sendWorkspaceChat',
  method: 'POST',
  path: ofAgent('/chat'),
  summary: 'Say something and wait for the answer',
  description:
    'One turn at a time in each conversation. 202 with the ids when the turn goes on longer than is waited for.',
  tag,
  access,
  params: AgentParams,
  body: WorkspaceChatBody,
  bodyLimit: messageBodyLimit,
  returns: z.union([
    z.object({ response: text, session_id: Id, message_id: text, execution_id: Id }),
    z.object({ execution_id: Id, session_id: Id }),
  ]),
  fails: turnFails,
  audit: { type: 'execution', action: 'workspace_chat' },
})

export const streamWorkspaceChat = endpoint({
  id: 'streamWorkspaceChat',
  method: 'POST',
  path: ofAgent('/chat/stream'),
  summary: 'Say something and follow the answer',
  description:
    'Server-sent events; JSON lines for `Accept: application/x-ndjson`. The last object is `done`.',
  tag,
  access,
  params: AgentParams,
  body: WorkspaceChatBody,
  bodyLimit: messageBodyLimit,
  streams: ['text/event-stream', 'application/x-ndjson'],
  fails: turnFails,
  audit: { type: 'execution', action: 'workspace_chat' },
})

export const streamWorkspaceRun = endpoint({
  id: 'streamWorkspaceRun',
  method: 'GET',
  path: ofAgent('/executions/{id}/stream'),
  summary: 'Follow an own turn',
  tag,
  access,
  params: ItemParams,
  query: z.object({ after: queryInteger(0, 999_999_999, 0) }),
  streams: ['text/event-stream'],
  fails: ['agent_not_found', 'execution_not_found'],
})

export const terminateWorkspaceRun = endpoint({
  id: 'terminateWorkspaceRun',
  method: 'POST',
  path: ofAgent('/executions/{id}/terminate'),
  summary: 'Stop an own turn',
  tag,
  access,
  params: ItemParams,
  returns: Terminated,
  fails: ['agent_not_found', 'execution_not_found'],
  audit: { type: 'execution', action: 'terminate' },
})

export const rateWorkspaceReply = endpoint({
  id: 'rateWorkspaceReply',
  method: 'POST',
  path: ofAgent('/ratings'),
  summary: 'Say whether an answer was good',
  tag,
  access,
  params: AgentParams,
  body: z.object({
    target_kind: z.enum(['message', 'report']),
    target_id: Id,
    rating: z.enum(['up', 'down', 'none']),
    comment: z.string().max(2000).nullish(),
  }),
  returns: z.object({ target_id: Id, rating: z.enum(['up', 'down', 'none']) }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'execution', action: 'rate' },
})

// ── documents ──────────────────────────────────────────────────────────────────────────────────────

export const WorkspaceDocument = z
  .object({ id: Id, filename: z.string(), size_bytes: count, path: z.string(), created_at: Timestamp })
  .meta({ id: 'WorkspaceDocument' })
export type WorkspaceDocument = z.output<typeof WorkspaceDocument>

export const listDocuments = endpoint({
  id: 'listWorkspaceDocuments',
  method: 'GET',
  path: ofAgent('/documents'),
  summary: 'Own files with an agent',
  tag,
  access,
  params: AgentParams,
  returns: z.object({ agent_name: z.string(), documents: z.array(WorkspaceDocument) }),
  fails: ['agent_not_found'],
})

export const uploadDocument = endpoint({
  id: 'uploadWorkspaceDocument',
  method: 'POST',
  path: ofAgent('/documents'),
  summary: 'Give the agent a file',
  description: 'Multipart form with one file, at most 25 MB, in a field of any name; 100 MB together.',
  tag,
  access,
  params: AgentParams,
  bodyKind: 'raw',
  bodyLimit: maxDocumentBytes + megabyte,
  status: 201,
  returns: WorkspaceDocument,
  fails: ['agent_not_found', 'agent_stopped', 'agent_unresponsive', 'file_too_large', 'rate_limited'],
  audit: { type: 'execution', action: 'upload_document' },
})

export const downloadDocument = endpoint({
  id: 'downloadWorkspaceDocument',
  method: 'GET',
  path: ofAgent('/documents/{id}'),
  summary: 'An own file',
  tag,
  access,
  params: ItemParams,
  streams: ['application/octet-stream'],
  fails: ['agent_not_found', 'file_not_found', 'agent_stopped', 'agent_unresponsive'],
})

export const deleteDocument = endpoint({
  id: 'deleteWorkspaceDocument',
  method: 'DELETE',
  path: ofAgent('/documents/{id}'),
  summary: 'Take an own file back',
  tag,
  access,
  params: ItemParams,
  status: 204,
  fails: ['agent_not_found', 'file_not_found', 'agent_stopped', 'agent_unresponsive'],
  audit: { type: 'execution', action: 'delete_document' },
})

// ── asks ───────────────────────────────────────────────────────────────────────────────────────────

export const listAsks = endpoint({
  id: 'listWorkspaceAsks',
  method: 'GET',
  path: at('/asks'),
  summary: 'What agents ask this person',
  tag,
  access,
  returns: z.object({ asks: z.array(QueueItem) }),
})

export const answerAsk = endpoint({
  id: 'answerWorkspaceAsk',
  method: 'POST',
  path: at('/asks/{id}/answer'),
  summary: 'Answer what an agent asked',
  tag,
  access,
  params: StateParams,
  body: RespondBody,
  returns: QueueItem,
  fails: ['not_found', 'item_not_pending', 'item_diverged', 'option_not_offered'],
  audit: { type: 'operator_queue', action: 'respond' },
})

// ── the owner's view ───────────────────────────────────────────────────────────────────────────────

const ClientParams = z.object({ name: z.string(), email: z.string() })
export const Client = z
  .object({ email: z.string(), last_active_at: time, message_count: count, blocked: z.boolean() })
  .meta({ id: 'WorkspaceClient' })
export type Client = z.output<typeof Client>
const clientFails = ['agent_not_found', 'owner_required', 'not_found'] as const

export const listClients = endpoint({
  id: 'listWorkspaceClients',
  method: 'GET',
  path: ofAgent('/clients'),
  summary: 'People who use an agent in the Workspace; its owner sees them',
  tag,
  access,
  params: AgentParams,
  returns: z.array(Client),
  fails: ['agent_not_found', 'owner_required'],
})

export const logOutClient = endpoint({
  id: 'logOutWorkspaceClient',
  method: 'POST',
  path: ofAgent('/clients/{email}/logout'),
  summary: 'End the Workspace sessions of somebody the agent is shared with',
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
  path: ofAgent('/clients/{email}/block'),
  summary: 'Keep an address away from an agent in the Workspace; admins may',
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
  path: ofAgent('/clients/{email}/unblock'),
  summary: 'Let a blocked address in again; admins may',
  tag,
  access,
  params: ClientParams,
  returns: Client,
  fails: [...clientFails, 'admin_required'],
  audit: { type: 'sharing', action: 'unblock_client' },
})
