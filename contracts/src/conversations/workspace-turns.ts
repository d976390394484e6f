import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, messageBodyLimit, queryInteger } from '../kit/primitives.ts'
import { FileAttachments } from '../runs/attachments.ts'
import { Terminated } from '../runs/executions.ts'
import { runFails } from '../runs/request.ts'
import { CanvasId } from './canvas.ts'
import { workspaceAccess as access, workspaceTag as tag, workspaceAgentPath } from './workspace.ts'

export const workspaceMessageLength = 8000

const text = z.string().nullable()
const ItemParams = z.object({ name: z.string(), id: z.string() })

export const WorkspaceChatBody = z.object({
  message: z.string().trim().min(1).max(workspaceMessageLength),
  session_id: z.string().max(64).nullish().describe('Default: Main.'),
  new_thread: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  model: ModelOverride,
  files: FileAttachments,
  open_canvas_id: CanvasId.nullish().describe(
    'The canvas that the person has open; it is passed to the agent.',
  ),
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
  path: workspaceAgentPath('/chat'),
  summary: 'Send a message and wait for the answer',
  description:
    'One turn at a time in each conversation. 202 with the ids if the turn takes longer than the maximum wait.',
  tag,
  access,
  params: AgentParams,
  body: WorkspaceChatBody,
  bodyLimit: messageBodyLimit,
  returns: z.object({ response: text, session_id: Id, message_id: text, execution_id: Id }),
  also: [
    {
      status: 202,
      when: 'The turn is still in progress.',
      returns: z.object({ execution_id: Id, session_id: Id }),
    },
  ],
  headers: ['Idempotency-Key', 'Prefer'],
  replyHeaders: ['X-Execution-Id'],
  fails: turnFails,
  audit: { type: 'execution', action: 'workspace_chat' },
})

export const streamWorkspaceChat = endpoint({
  id: 'streamWorkspaceChat',
  method: 'POST',
  path: workspaceAgentPath('/chat/stream'),
  summary: 'Send a message and stream the answer',
  description:
    'Server-sent events; JSON lines for `Accept: application/x-ndjson`. The last object is `done`.',
  tag,
  access,
  params: AgentParams,
  body: WorkspaceChatBody,
  bodyLimit: messageBodyLimit,
  streams: ['text/event-stream', 'application/x-ndjson'],
  headers: ['Idempotency-Key'],
  replyHeaders: ['X-Execution-Id'],
  fails: turnFails,
  audit: { type: 'execution', action: 'workspace_chat' },
})

export const streamWorkspaceRun = endpoint({
  id: 'streamWorkspaceRun',
  method: 'GET',
  path: workspaceAgentPath('/executions/{id}/stream'),
  summary: 'Follow one of your turns',
  tag,
  access,
  params: ItemParams,
  query: z.object({ after: queryInteger(0, 999_999_999, 0) }),
  streams: ['text/event-stream'],
  headers: ['Last-Event-ID'],
  fails: ['agent_not_found', 'execution_not_found'],
})

export const terminateWorkspaceRun = endpoint({
  id: 'terminateWorkspaceRun',
  method: 'POST',
  path: workspaceAgentPath('/executions/{id}/terminate'),
  summary: 'Stop one of your turns',
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
  path: workspaceAgentPath('/ratings'),
  summary: 'Rate an answer or a report',
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
