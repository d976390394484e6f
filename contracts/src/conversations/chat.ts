import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import {
  AgentParams,
  Id,
  Money,
  messageBodyLimit,
  queryBoolean,
  queryInteger,
  Timestamp,
} from '../kit/primitives.ts'
import { FileAttachments, imageTypes } from '../runs/attachments.ts'
import { CostEstimated } from '../runs/cost.ts'
import { executionErrorCodes, executionStatuses, RunMetadata, ToolCall } from '../runs/executions.ts'
import {
  MessageText,
  QueuedReceipt,
  RunTimeout,
  runFails,
  runHeaders,
  runReplyHeaders,
} from '../runs/request.ts'

const tag = 'Chat'

export const ChatBody = z.object({
  message: MessageText,
  model: ModelOverride,
  files: FileAttachments,
})
export type ChatBody = z.output<typeof ChatBody>

export const SessionMessageBody = ChatBody.extend({
  timeout_seconds: RunTimeout.nullish(),
})
export type SessionMessageBody = z.output<typeof SessionMessageBody>

const text = z.string().nullable()
const integer = z.number().int()
const count = integer.nullable()

export const ChatSession = z
  .object({
    id: Id,
    agent_name: z.string(),
    user_id: z.string(),
    user_email: text,
    title: text,
    kind: z.enum(['chat', 'workspace', 'public']),
    status: z.enum(['active', 'closed']),
    is_current: z.boolean(),
    pinned: z.boolean().describe('Listed before the others.'),
    archived_at: Timestamp.nullable().describe('Since then hidden from lists, unless they ask for it.'),
    share_count: integer.describe('People who can read it through a share.'),
    started_at: Timestamp,
    last_message_at: Timestamp.nullable(),
    message_count: integer,
    total_cost: Money,
    cost_estimated: CostEstimated,
    context_used: integer,
    context_max: integer,
    runtime_session_id: text,
    turn_in_progress: z.boolean(),
    in_flight_execution_id: text,
  })
  .meta({ id: 'ChatSession' })
export type ChatSession = z.output<typeof ChatSession>

export const FileNote = z.object({ name: z.string(), mimetype: z.string(), size: integer })
export type FileNote = z.output<typeof FileNote>

/** An attached file of a stored message. */
export const StoredFile = FileNote.extend({
  picture_id: Id.nullable().describe(
    'The stored picture. Null for other files, which are kept by name only.',
  ),
})
export type StoredFile = z.output<typeof StoredFile>

export const ChatMessage = z
  .object({
    id: Id,
    session_id: Id,
    agent_name: z.string(),
    role: z.enum(['user', 'assistant']),
    content: z.string(),
    timestamp: Timestamp,
    source: z.enum(['text', 'voice', 'schedule', 'reminder']),
    execution_id: text,
    cost: Money.nullable(),
    cost_estimated: CostEstimated,
    context_used: count,
    context_max: count,
    tool_calls: z.array(ToolCall).nullable(),
    execution_time_ms: count,
    output_tokens: count,
    files: z.array(StoredFile).nullable(),
    error_code: z.enum(executionErrorCodes).nullable().describe('Why the turn of this message failed.'),
    rating: z.enum(['up', 'down']).nullable(),
    voice_call_id: text.describe('The voice call that the message belongs to.'),
  })
  .meta({ id: 'ChatMessage' })
export type ChatMessage = z.output<typeof ChatMessage>

/** The result of a turn: the JSON reply, and the last object of a stream. */
export const ChatReply = z
  .object({
    status: z.enum(executionStatuses),
    response: text,
    metadata: RunMetadata,
    session: z.object({
      id: Id,
      message_count: integer,
      context_tokens: integer,
      context_window: integer,
      total_cost: Money,
      cost_estimated: CostEstimated,
      title: text,
    }),
    execution: z.object({
      id: Id,
      task_execution_id: Id,
      status: z.enum(executionStatuses),
      queue_status: z
        .string()
        .describe('State when the turn was accepted: `running`, or `queued:<position>`.'),
      was_queued: z.boolean(),
    }),
    timestamp: Timestamp,
    execution_log: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'ChatReply' })
export type ChatReply = z.output<typeof ChatReply>

const turn = {
  streams: ['application/x-ndjson', 'text/event-stream'],
  bodyLimit: messageBodyLimit,
  returns: z.union([ChatReply, QueuedReceipt]),
  headers: runHeaders,
  replyHeaders: runReplyHeaders,
} as const
const turnForms =
  '`Accept` selects the form: live JSON lines (the default), server-sent events, or `application/json` for only the result at the end. The header `X-Execution-Id` names the run. A client disconnect does not stop it.'

export const sendChat = endpoint({
  id: 'sendChat',
  method: 'POST',
  path: '/api/agents/{name}/chat',
  summary: 'Run a turn in your current conversation with the agent',
  description: turnForms,
  tag,
  access: { who: 'access', scopes: ['connector'], guests: true },
  params: AgentParams,
  body: ChatBody,
  ...turn,
  fails: runFails,
  audit: { type: 'execution', action: 'chat' },
})

const SessionParams = z.object({ name: z.string(), id: z.string() })
const StatusFilter = z.enum(['active', 'closed']).optional()
const ArchivedFilter = z
  .enum(['exclude', 'only', 'include'])
  .default('exclude')
  .describe('What the list does with archived conversations.')

export const listChatSessions = endpoint({
  id: 'listChatSessions',
  method: 'GET',
  path: '/api/agents/{name}/chat/sessions',
  summary: 'Your conversations with the agent, pinned ones first, then newest first',
  description:
    'An admin gets the conversations of all people with `all=true`. `X-Total-Count` has the total.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    status: StatusFilter,
    archived: ArchivedFilter,
    limit: queryInteger(1, 200, 50),
    offset: queryInteger(0, 999_999_999, 0),
    all: queryBoolean(false),
  }),
  returns: z.object({
    agent_name: z.string(),
    session_count: integer,
    sessions: z.array(ChatSession),
  }),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found', 'admin_required'],
})

export const getChatSession = endpoint({
  id: 'getChatSession',
  method: 'GET',
  path: '/api/agents/{name}/chat/sessions/{id}',
  summary: 'Get a conversation with its messages, oldest first',
  description:
    'Each question is followed by its answer, even if several questions waited in the queue. `before` is the id of a message or a time: returns the messages before it, or the turns that started before it.',
  tag,
  access: { who: 'access' },
  params: SessionParams,
  query: z.object({ limit: queryInteger(1, 500, 100), before: z.string().max(100).optional() }),
  returns: z.object({ session: ChatSession, message_count: integer, messages: z.array(ChatMessage) }),
  fails: ['agent_not_found', 'session_not_found'],
})

export const closeChatSession = endpoint({
  id: 'closeChatSession',
  method: 'POST',
  path: '/api/agents/{name}/chat/sessions/{id}/close',
  summary: 'Close a conversation',
  tag,
  access: { who: 'access' },
  params: SessionParams,
  returns: z.object({ status: z.literal('closed'), session_id: Id }),
  fails: ['agent_not_found', 'session_not_found'],
  audit: { type: 'execution', action: 'close_session' },
})

export const getChatHistory = endpoint({
  id: 'getChatHistory',
  method: 'GET',
  path: '/api/agents/{name}/chat/history',
  summary: 'The messages of your current conversation',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.array(
    z.object({ role: z.enum(['user', 'assistant']), content: z.string(), timestamp: Timestamp }),
  ),
  fails: ['agent_not_found'],
})

export const resetChatHistory = endpoint({
  id: 'resetChatHistory',
  method: 'DELETE',
  path: '/api/agents/{name}/chat/history',
  summary: 'Close your current conversation; the next message starts a new one',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.object({ status: z.literal('reset'), message: z.string(), session_id: Id.nullable() }),
  fails: ['agent_not_found'],
  audit: { type: 'execution', action: 'reset_history' },
})

export const getPersistentHistory = endpoint({
  id: 'getPersistentHistory',
  method: 'GET',
  path: '/api/agents/{name}/chat/history/persistent',
  summary: 'The newest messages of all your conversations with the agent, oldest first',
  description: 'Turns are sorted by the time of their question; each question is followed by its answer.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({ limit: queryInteger(1, 1000, 100) }),
  returns: z.object({ agent_name: z.string(), message_count: integer, messages: z.array(ChatMessage) }),
  fails: ['agent_not_found'],
})

export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/api/agents/{name}/sessions',
  summary: 'Your conversations with the agent as a plain list, pinned ones first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    status: StatusFilter,
    archived: ArchivedFilter,
    search: z
      .string()
      .trim()
      .max(200)
      .optional()
      .describe('Only conversations with this text in their name or a message, in any case.'),
    limit: queryInteger(1, 200, 50),
    offset: queryInteger(0, 999_999_999, 0),
  }),
  returns: z.array(ChatSession),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

/** The name of a conversation. */
export const ConversationTitle = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\r\n]*$/, 'must be one line')

const CreateSession = z.object({
  title: z
    .string()
    .trim()
    .max(200)
    .nullish()
    .transform((title) => title || null),
  make_current: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
})
const creation = {
  method: 'POST',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: CreateSession,
  bodyOptional: true,
  status: 201,
  returns: ChatSession,
  fails: ['agent_not_found'],
  audit: { type: 'execution', action: 'create_session' },
} as const

export const createSession = endpoint({
  id: 'createSession',
  path: '/api/agents/{name}/sessions',
  summary: 'Start a conversation',
  ...creation,
})

export const createSessionSingular = endpoint({
  id: 'createSessionSingular',
  path: '/api/agents/{name}/session',
  summary: 'Start a conversation (alias)',
  ...creation,
})

export const getSession = endpoint({
  id: 'getSession',
  method: 'GET',
  path: '/api/agents/{name}/sessions/{id}',
  summary: 'Get a conversation with its newest messages, oldest first',
  tag,
  access: { who: 'access' },
  params: SessionParams,
  query: z.object({ limit: queryInteger(1, 500, 100) }),
  returns: z.object({ session: ChatSession, messages: z.array(ChatMessage) }),
  fails: ['agent_not_found', 'session_not_found'],
})

export const SessionChanges = z
  .object({
    title: ConversationTitle.optional(),
    pinned: z.boolean().optional(),
    archived: z
      .boolean()
      .optional()
      .describe('An archived conversation is hidden from lists. Its next message restores it.'),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'must set title, pinned or archived',
  })
export type SessionChanges = z.output<typeof SessionChanges>

export const updateSession = endpoint({
  id: 'updateSession',
  method: 'PATCH',
  path: '/api/agents/{name}/sessions/{id}',
  summary: 'Rename, pin or archive a conversation',
  tag,
  access: { who: 'access' },
  params: SessionParams,
  body: SessionChanges,
  returns: ChatSession,
  fails: ['agent_not_found', 'session_not_found'],
  audit: { type: 'execution', action: 'update_session' },
})

/** Messages and characters that a branch copies at most; older messages stay in the original only. */
export const branchLimits = { messages: 1000, characters: 5_000_000 } as const

export const branchSession = endpoint({
  id: 'branchSession',
  method: 'POST',
  path: '/api/agents/{name}/sessions/{id}/branch',
  summary: 'Start a conversation with the messages of another one up to a message',
  description: `The original does not change, and its runs continue. The branch copies the newest ${branchLimits.messages} messages up to that one, of at most ${branchLimits.characters / 1_000_000} million characters. Its first turn gives them to the agent as text in a new session of the runtime: the newest 200 of them, up to 150,000 characters, without pictures.`,
  tag,
  access: { who: 'access' },
  params: SessionParams,
  body: z.object({ message_id: Id.describe('The last message of the branch.') }),
  status: 201,
  returns: ChatSession,
  fails: ['agent_not_found', 'session_not_found', 'not_found'],
  audit: { type: 'execution', action: 'branch_session' },
})

export const getSessionPicture = endpoint({
  id: 'getSessionPicture',
  method: 'GET',
  path: '/api/agents/{name}/sessions/{id}/pictures/{picture_id}',
  summary: 'A picture that was attached to a message of a conversation',
  tag,
  access: { who: 'access' },
  params: z.object({ name: z.string(), id: z.string(), picture_id: z.string() }),
  streams: imageTypes,
  fails: ['agent_not_found', 'session_not_found', 'file_not_found'],
})

export const deleteSession = endpoint({
  id: 'deleteSession',
  method: 'DELETE',
  path: '/api/agents/{name}/sessions/{id}',
  summary: 'Delete a conversation and its messages',
  tag,
  access: { who: 'access' },
  params: SessionParams,
  returns: z.object({ message: z.string(), session_id: Id }),
  fails: ['agent_not_found', 'session_not_found', 'turn_in_progress'],
  audit: { type: 'execution', action: 'delete_session' },
})

export const sendSessionMessage = endpoint({
  id: 'sendSessionMessage',
  method: 'POST',
  path: '/api/agents/{name}/sessions/{id}/message',
  summary: 'Run a turn in a conversation',
  description: turnForms,
  tag,
  access: { who: 'access' },
  params: SessionParams,
  body: SessionMessageBody,
  ...turn,
  fails: [...runFails, 'session_not_found', 'conflict'],
  audit: { type: 'execution', action: 'session_message' },
})

export const resetSession = endpoint({
  id: 'resetSession',
  method: 'POST',
  strict: true,
  path: '/api/agents/{name}/sessions/{id}/reset',
  summary: "Reset the runtime's memory of a conversation; its messages stay",
  tag,
  access: { who: 'access' },
  params: SessionParams,
  returns: ChatSession,
  fails: ['agent_not_found', 'session_not_found', 'turn_in_progress'],
  audit: { type: 'execution', action: 'reset_session' },
})

/** Sent only to the person of the session. */
export const chatResponseReady = eventType({
  name: 'chat.response_ready',
  stored: true,
  fields: z.object({ execution_id: Id, session_id: Id, status: z.enum(executionStatuses) }),
})
