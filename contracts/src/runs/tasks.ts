import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, messageBodyLimit, Timestamp } from '../kit/primitives.ts'
import { FileAttachments } from './attachments.ts'
import { RunMetadata, ToolCall } from './executions.ts'
import {
  AllowedTools,
  MessageText,
  QueuedReceipt,
  RunTimeout,
  runFails,
  runHeaders,
  runReplyHeaders,
  SystemPrompt,
} from './request.ts'

/**
 * `timeout_seconds` of a task is deprecated in favour of the agent's timeout. It still works, and these reply headers
 * announce the deprecation (RFC 9745, RFC 8594).
 */
export const timeoutDeprecation = {
  deprecation: '@1796083200',
  sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
} as const

/** A session id of the runtime; it becomes a command-line argument. */
const RuntimeSession = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'must be letters, digits, ".", "_" and "-"')

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)

export const TaskBody = z.object({
  message: MessageText,
  async_mode: flag,
  model: ModelOverride,
  files: FileAttachments,
  timeout_seconds: RunTimeout.nullish().describe(
    "Deprecated. A value above the agent's cap becomes the cap. Default: the agent's timeout.",
  ),
  allowed_tools: AllowedTools.nullish(),
  system_prompt: SystemPrompt.nullish().describe("Appended to the agent's own prompt; at most 32 KiB."),
  max_turns: z.number().int().min(1).max(500).nullish(),
  resume_session_id: RuntimeSession.nullish().describe("The runtime's session to continue."),
  parent_execution_id: Id.nullish().describe('The run that this one belongs to.'),
  save_to_session: flag.describe('Adds message and response to one of your conversations.'),
  session_id: Id.nullish().describe('The conversation; `save_to_session` uses the current one by default.'),
  inject_result: flag.describe('Adds the result of a self-task to the conversation.'),
})
export type TaskBody = z.output<typeof TaskBody>

export const AcceptedTask = z
  .object({
    status: z.literal('accepted'),
    execution_id: Id,
    agent_name: z.string(),
    execution_status: z.enum(['queued', 'running']),
    async_mode: z.literal(true),
    message: z.string(),
  })
  .meta({ id: 'AcceptedTask' })
export type AcceptedTask = z.output<typeof AcceptedTask>

export const TaskReply = z
  .object({
    status: z.literal('success'),
    execution_id: Id,
    task_execution_id: Id,
    response: z.string().nullable(),
    metadata: RunMetadata,
    tool_calls: z.array(ToolCall),
    execution_log: z.array(z.unknown()),
    session_id: Id.nullable().describe('The conversation that the task belongs to.'),
    timestamp: Timestamp,
  })
  .meta({ id: 'TaskReply' })
export type TaskReply = z.output<typeof TaskReply>

export const CancelledTask = z
  .object({ status: z.literal('cancelled'), execution_id: Id, response: z.null() })
  .meta({ id: 'CancelledTask' })
export type CancelledTask = z.output<typeof CancelledTask>

export const runTask = endpoint({
  id: 'runTask',
  method: 'POST',
  path: '/api/agents/{name}/task',
  summary: 'Run a task',
  description:
    'Stateless and parallel up to the slots of the agent. The reply waits until the task has ended, including the time in the queue. With `async_mode` it returns immediately; poll the execution. The header `X-Execution-Id` names the run. A client disconnect does not stop it.',
  tag: 'Tasks',
  access: { who: 'access', guests: true },
  params: AgentParams,
  body: TaskBody,
  bodyLimit: messageBodyLimit,
  returns: z.union([TaskReply, AcceptedTask, CancelledTask, QueuedReceipt]),
  headers: runHeaders,
  replyHeaders: [...runReplyHeaders, 'Deprecation', 'Sunset'],
  fails: [...runFails, 'execution_not_found', 'session_not_found', 'conflict'],
  audit: { type: 'execution', action: 'task' },
})
