import { z } from 'zod'
import { avatarTypes } from '../agents/avatar.ts'
import { EmailAddress } from '../identity/users.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Id, messageBodyLimit, queryBoolean, queryInteger, Timestamp } from '../kit/primitives.ts'
import { FileAttachments } from '../runs/attachments.ts'
import { executionStatuses, Terminated } from '../runs/executions.ts'

const tag = 'Public chat'
const access = { who: 'none' } as const
const TokenParams = z.object({ token: z.string() })
const smallBody = 16 * 1024

export const publicMessageLength = 8000
/** Header for a visitor's `session_token`, as an alternative to query and body. */
export const sessionTokenHeader = 'X-Session-Token'

const text = z.string().nullable()
const count = z.number().int()
const credential = z.string().max(128)

/** Identity of a visitor: `session_token` on a link that requires an address, `session_id` on an open one. */
const Identity = z.object({
  session_token: credential
    .nullish()
    .describe(`From the confirmation of an address; also \`${sessionTokenHeader}\`.`),
  session_id: credential.nullish().describe('From an earlier reply on an open link; keep it secret.'),
})
export type PublicIdentity = z.output<typeof Identity>

const common = ['link_not_found', 'feature_disabled', 'rate_limited'] as const

const PublicChatShown = z.object({
  valid: z.literal(true),
  require_email: z.boolean(),
  agent_available: z.boolean(),
  agent_label: z.string(),
  agent_description: text.describe('From its `template.yaml`; null without one.'),
  greeting: text.describe("The owner's words before the first message: plain text."),
  starter_questions: z.array(z.string()),
})
export type PublicChatShown = z.output<typeof PublicChatShown>

export const getPublicChat = endpoint({
  id: 'getPublicChat',
  method: 'GET',
  path: '/api/public/link/{token}',
  summary: 'Get a public link',
  description:
    'The token is the credential. Unknown, disabled, expired and deleted links are 404 on all public routes.',
  tag,
  access,
  params: TokenParams,
  returns: PublicChatShown,
  fails: common,
})

export const getPublicPicture = endpoint({
  id: 'getPublicPicture',
  method: 'GET',
  path: '/api/public/link/{token}/picture',
  summary: "The picture of a public link's agent, or a generated one",
  tag,
  access,
  params: TokenParams,
  streams: ['image/svg+xml', ...avatarTypes],
  fails: common,
})

export const requestPublicCode = endpoint({
  id: 'requestPublicCode',
  method: 'POST',
  path: '/api/public/verify/request',
  summary: 'Request a code by e-mail for a link that requires an address',
  tag,
  access,
  headers: ['Cookie'],
  body: z.object({ token: z.string(), email: EmailAddress }),
  bodyLimit: smallBody,
  returns: z.object({ message: z.string(), expires_in_seconds: count }),
  fails: [...common, 'email_not_required', 'not_configured'],
  audit: { type: 'authentication', action: 'request_public_code' },
})

export const confirmPublicCode = endpoint({
  id: 'confirmPublicCode',
  method: 'POST',
  path: '/api/public/verify/confirm',
  summary: 'Confirm the code from the e-mail',
  description: 'The `session_token` is valid for 24 hours on this link.',
  tag,
  access,
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  body: z.object({ token: z.string(), email: EmailAddress, code: z.string().min(1).max(64) }),
  bodyLimit: smallBody,
  returns: z.object({ verified: z.literal(true), session_token: z.string(), expires_at: Timestamp }),
  fails: [...common, 'email_not_required', 'invalid_code', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'confirm_public_code' },
})

export const PublicChatBody = Identity.extend({
  message: z
    .string()
    .min(1, 'must not be empty')
    .max(publicMessageLength)
    .refine((message) => message.trim() !== '', 'must not be blank'),
  async_mode: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  files: FileAttachments,
})
export type PublicChatBody = z.output<typeof PublicChatBody>

export const PublicReply = z.object({
  response: text.describe('Null: the turn was stopped.'),
  session_id: Id,
  execution_id: Id,
  message_count: count,
  usage: z.object({ input_tokens: count, output_tokens: count }).optional(),
})
export type PublicReply = z.output<typeof PublicReply>

export const sendPublicChat = endpoint({
  id: 'sendPublicChat',
  method: 'POST',
  path: '/api/public/chat/{token}',
  summary: 'Send a message to the agent of a public link',
  description:
    'One turn at a time in each conversation. On an open link, a message without a known `session_id` starts a conversation; the reply has the id to continue it. With `async_mode` the reply is immediate; follow the execution of the turn.',
  tag,
  access,
  params: TokenParams,
  body: PublicChatBody,
  bodyLimit: messageBodyLimit,
  returns: z.union([
    PublicReply,
    z.object({ status: z.literal('accepted'), execution_id: Id, session_id: Id }),
  ]),
  headers: ['Prefer', 'X-Session-Token'],
  replyHeaders: ['X-Execution-Id'],
  fails: [
    ...common,
    'session_expired',
    'turn_in_progress',
    'daily_cap_reached',
    'agent_not_running',
    'attachment_rejected',
    'attachment_too_large',
    'disk_quota_reached',
    'body_too_large',
    'queue_full',
    'circuit_open',
    'run_failed',
    'run_timeout',
    'provider_rate_limited',
    'sync_wait_exceeded',
  ],
  audit: { type: 'execution', action: 'public_chat' },
})

export const getPublicHistory = endpoint({
  id: 'getPublicHistory',
  method: 'GET',
  path: '/api/public/history/{token}',
  summary: 'Get your conversation on a public link',
  description: 'Returns the newest 100 messages, oldest first.',
  tag,
  access,
  params: TokenParams,
  query: Identity,
  returns: z.object({
    messages: z.array(
      z.object({ role: z.enum(['user', 'assistant']), content: z.string(), timestamp: Timestamp }),
    ),
    session_id: Id.nullable(),
    message_count: count,
    in_flight_execution_id: Id.nullable().describe('The turn in progress.'),
  }),
  headers: ['X-Session-Token'],
  fails: [...common, 'session_expired'],
})

export const resetPublicChat = endpoint({
  id: 'resetPublicChat',
  method: 'DELETE',
  path: '/api/public/session/{token}',
  summary: 'Delete your conversation on a public link',
  tag,
  access,
  params: TokenParams,
  query: Identity,
  returns: z.object({
    cleared: z.boolean().describe('False: there was no conversation.'),
    new_session_id: Id.nullable().describe('Replaces the previous id; null if that one stays valid.'),
  }),
  headers: ['X-Session-Token'],
  fails: [...common, 'session_expired', 'turn_in_progress'],
  audit: { type: 'execution', action: 'reset_public_chat' },
})

const turnPath = '/api/public/executions/{token}/{execution_id}'
const TurnParams = z.object({ token: z.string(), execution_id: z.string() })
const SessionToken = Identity.pick({ session_token: true })
const turnFails = [...common, 'session_expired', 'execution_not_found'] as const

export const getPublicTurn = endpoint({
  id: 'getPublicTurn',
  method: 'GET',
  path: `${turnPath}/status`,
  summary: 'Status of a turn on a public link',
  tag,
  access,
  params: TurnParams,
  query: SessionToken,
  returns: z.object({
    execution_id: Id,
    status: z.enum(executionStatuses),
    response: text,
    error: text,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  }),
  headers: ['X-Session-Token'],
  fails: turnFails,
})

export const streamPublicTurn = endpoint({
  id: 'streamPublicTurn',
  method: 'GET',
  path: `${turnPath}/stream`,
  summary: 'Follow a turn on a public link',
  description:
    'Server-sent events like those of an execution, with only text and names of tools. `partials=true` adds pieces of the current text.',
  tag,
  access,
  params: TurnParams,
  query: SessionToken.extend({ after: queryInteger(0, 999_999_999, 0), partials: queryBoolean(false) }),
  streams: ['text/event-stream'],
  headers: ['Last-Event-ID', 'X-Session-Token'],
  replyHeaders: ['X-Execution-Id'],
  fails: turnFails,
})

export const terminatePublicTurn = endpoint({
  id: 'terminatePublicTurn',
  method: 'POST',
  path: `${turnPath}/terminate`,
  summary: 'Stop a turn on a public link',
  description: 'A link that requires an address needs the `session_token` that started the turn.',
  tag,
  access,
  params: TurnParams,
  query: SessionToken,
  body: SessionToken,
  bodyOptional: true,
  bodyLimit: smallBody,
  returns: Terminated,
  headers: ['X-Session-Token'],
  fails: turnFails,
  audit: { type: 'execution', action: 'terminate' },
})
