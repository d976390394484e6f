import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { imageTypes } from '../runs/attachments.ts'
import { ConversationTitle, StoredFile } from './chat.ts'
import {
  workspaceAccess as access,
  workspaceTag as tag,
  workspaceAgentPath,
  workspacePath,
} from './workspace.ts'

const text = z.string().nullable()
const time = Timestamp.nullable()
const count = z.number().int()
const ItemParams = z.object({ name: z.string(), id: z.string() })
const sourceNames = ['text', 'voice', 'schedule', 'reminder'] as const

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
  path: workspacePath('/sessions'),
  summary: 'Your conversations with all agents, most recent first',
  tag,
  access,
  returns: z.object({ sessions: z.array(Conversation) }),
})

export const searchConversations = endpoint({
  id: 'searchWorkspace',
  method: 'GET',
  path: workspacePath('/search'),
  summary: 'Search your conversations',
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

export const listConversations = endpoint({
  id: 'listWorkspaceSessions',
  method: 'GET',
  path: workspaceAgentPath('/sessions'),
  summary: 'Your conversations with one agent; creates Main if it is missing',
  tag,
  access,
  params: AgentParams,
  returns: z.object({ agent_name: z.string(), sessions: z.array(Conversation) }),
  fails: ['agent_not_found'],
})

export const createConversation = endpoint({
  id: 'createWorkspaceSession',
  method: 'POST',
  path: workspaceAgentPath('/sessions'),
  summary: 'Start a conversation in addition to Main',
  tag,
  access,
  params: AgentParams,
  body: z.object({ title: ConversationTitle.nullish() }),
  bodyOptional: true,
  status: 201,
  returns: Conversation,
  fails: ['agent_not_found'],
  audit: { type: 'execution', action: 'create_conversation' },
})

export const resetMain = endpoint({
  id: 'resetWorkspaceMain',
  method: 'POST',
  strict: true,
  path: workspaceAgentPath('/sessions/main/reset'),
  summary: 'Archive Main and start a new one',
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
  path: workspaceAgentPath('/sessions/{id}'),
  summary: 'Rename a conversation; Main cannot be renamed',
  tag,
  access,
  params: ItemParams,
  body: z.object({ title: ConversationTitle }),
  returns: Conversation,
  fails: ['agent_not_found', 'session_not_found', 'conflict'],
  audit: { type: 'execution', action: 'rename_conversation' },
})

const ChatState = z.object({ id: Id, starred: z.boolean(), unread: count })
const StateParams = z.object({ id: z.string() })

export const starConversation = endpoint({
  id: 'starWorkspaceSession',
  method: 'PUT',
  path: workspacePath('/chat-state/{id}/star'),
  summary: 'Star or unstar a conversation',
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
  path: workspacePath('/chat-state/{id}/read'),
  summary: 'Mark a conversation as read',
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
  path: workspaceAgentPath('/history'),
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
        files: z.array(StoredFile),
      }),
    ),
    in_flight_execution_id: text,
    last_turn_outcome: z
      .object({ execution_id: z.string(), category: z.string(), message: z.string(), retryable: z.boolean() })
      .nullable()
      .describe('Why the last turn failed; null if it did not.'),
    truncated: z.boolean(),
  }),
  fails: ['agent_not_found', 'session_not_found'],
})

export const getWorkspacePicture = endpoint({
  id: 'getWorkspacePicture',
  method: 'GET',
  path: workspaceAgentPath('/sessions/{id}/pictures/{picture_id}'),
  summary: 'A picture that was attached to a message of your conversation',
  tag,
  access,
  params: ItemParams.extend({ picture_id: z.string() }),
  streams: imageTypes,
  fails: ['agent_not_found', 'session_not_found', 'file_not_found'],
})
