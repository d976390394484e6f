import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { imageTypes } from '../runs/attachments.ts'
import { ChatMessage } from './chat.ts'

const tag = 'Shared conversations'
const text = z.string().nullable()
/** Path of the page of a shared conversation, followed by the id of the share. */
export const sharedConversationPath = '/shared/'
/** People with whom one conversation can be shared. */
export const maxSharesPerSession = 50

/** A read-only link to one conversation for one account. */
export const ChatShare = z
  .object({
    id: Id,
    session_id: Id,
    agent_name: z.string(),
    username: z.string().describe('The account that can read the conversation.'),
    name: text,
    url: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'ChatShare' })
export type ChatShare = z.output<typeof ChatShare>

/** What a share shows about its conversation. */
export const SharedConversation = z
  .object({
    share_id: Id,
    agent_name: z.string(),
    agent_label: text,
    title: text,
    shared_by: z.string().describe('Name of the person who shares it.'),
    shared_at: Timestamp,
    last_message_at: Timestamp.nullable(),
  })
  .meta({ id: 'SharedConversation' })
export type SharedConversation = z.output<typeof SharedConversation>

/** A message without its run, costs and ratings. */
export const SharedMessage = ChatMessage.pick({
  id: true,
  role: true,
  content: true,
  timestamp: true,
  source: true,
  tool_calls: true,
  files: true,
  error_code: true,
}).meta({ id: 'SharedMessage' })
export type SharedMessage = z.output<typeof SharedMessage>

/** Refuses agents: a share is for a person. */
const person = { who: 'any', gate: 'person' } as const
const ofAgent = { who: 'access', gate: 'person' } as const
const SessionParams = z.object({ name: z.string(), id: z.string() })
const ShareParams = z.object({ share_id: z.string() })

export const shareSession = endpoint({
  id: 'shareSession',
  method: 'POST',
  path: '/api/agents/{name}/sessions/{id}/shares',
  summary: 'Share a conversation with an account, read-only',
  description:
    'That account signs in and opens the address. It sees the messages, also later ones, their pictures and the names, inputs and results of tool calls. It sees no files, no outputs of tools and no costs, and it cannot send. It needs no access to the agent. A share ends when it is revoked, with its conversation, agent or account, and while you have no access to the agent.',
  tag,
  access: ofAgent,
  params: SessionParams,
  body: z.object({
    username: z
      .string()
      .trim()
      .min(1)
      .max(320)
      .describe('User name or e-mail address of an account of this installation.'),
  }),
  status: 201,
  returns: ChatShare,
  fails: [
    'agent_not_found',
    'session_not_found',
    'self_share',
    'already_shared',
    'conflict',
    'rate_limited',
    'person_required',
  ],
  audit: { type: 'sharing', action: 'share_conversation' },
})

export const listSessionShares = endpoint({
  id: 'listSessionShares',
  method: 'GET',
  path: '/api/agents/{name}/sessions/{id}/shares',
  summary: 'The people who can read a conversation, in the order of their shares',
  tag,
  access: ofAgent,
  params: SessionParams,
  returns: z.array(ChatShare),
  fails: ['agent_not_found', 'session_not_found', 'person_required'],
})

export const revokeSessionShare = endpoint({
  id: 'revokeSessionShare',
  method: 'DELETE',
  path: '/api/agents/{name}/sessions/{id}/shares/{share_id}',
  summary: 'Stop sharing a conversation with an account',
  tag,
  access: ofAgent,
  params: SessionParams.extend({ share_id: z.string() }),
  returns: z.object({ share_id: Id, revoked: z.literal(true) }),
  fails: ['agent_not_found', 'session_not_found', 'link_not_found', 'person_required'],
  audit: { type: 'sharing', action: 'revoke_conversation_share' },
})

export const listSharedConversations = endpoint({
  id: 'listSharedConversations',
  method: 'GET',
  path: '/api/shared-conversations',
  summary: 'Conversations that others share with you, newest share first',
  tag,
  access: person,
  query: z.object({ limit: queryInteger(1, 200, 100) }),
  returns: z.array(SharedConversation),
  fails: ['person_required'],
})

export const getSharedConversation = endpoint({
  id: 'getSharedConversation',
  method: 'GET',
  path: '/api/shared-conversations/{share_id}',
  summary: 'Read a conversation that is shared with you',
  description:
    'Unknown and revoked shares, and those of other accounts, are 404. Messages are listed oldest first; `before` is the id of a message: returns the messages before it.',
  tag,
  access: person,
  params: ShareParams,
  query: z.object({ limit: queryInteger(1, 500, 100), before: z.string().max(100).optional() }),
  returns: z.object({ conversation: SharedConversation, messages: z.array(SharedMessage) }),
  fails: ['session_not_found', 'person_required'],
})

export const getSharedPicture = endpoint({
  id: 'getSharedPicture',
  method: 'GET',
  path: '/api/shared-conversations/{share_id}/pictures/{picture_id}',
  summary: 'A picture of a conversation that is shared with you',
  tag,
  access: person,
  params: ShareParams.extend({ picture_id: z.string() }),
  streams: imageTypes,
  fails: ['session_not_found', 'file_not_found', 'person_required'],
})
