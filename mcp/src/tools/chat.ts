import { getPersistentHistory, sendChat, sendSessionMessage } from '@roost/contracts/conversations/chat'
import { runTask } from '@roost/contracts/runs/tasks'
import { z } from 'zod'
import { queuedTimeout, receiptOf } from '../receipts.ts'
import { Refusal } from '../refusals.ts'
import { asQuery, bodyOf, queryOf, request } from '../requests.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { agentName, idempotencyKey, idempotent, reasons, words } from './parameters.ts'

const task = bodyOf(runTask)
const chatInput = {
  message: task.message.describe('What you say to the agent or ask of it.'),
  parallel: z
    .boolean()
    .default(false)
    .describe(
      'false: one turn in your conversation with the agent, which remembers earlier turns; turns wait for each other. true: a separate task without memory, parallel to others.',
    ),
  async: z
    .boolean()
    .default(false)
    .describe('With parallel: do not wait, return an execution_id immediately.'),
  model: task.model.describe(words.model),
  allowed_tools: task.allowed_tools.describe(words.allowed_tools),
  system_prompt: task.system_prompt.describe(words.system_prompt),
  timeout_seconds: task.timeout_seconds.describe(
    'How long the run may take. Defaults to the timeout of the agent, which is also the maximum.',
  ),
  max_turns: task.max_turns.describe('How many times the model may be called in this run.'),
  session_id: task.session_id.describe(
    'One of your conversations with the agent. Defaults to the current one.',
  ),
  inject_result: task.inject_result.describe(
    'With parallel, for an agent that calls itself: the result becomes a message of session_id.',
  ),
  idempotency_key: idempotencyKey,
} as const
type ChatInput = z.output<z.ZodObject<typeof chatInput>>

const requests = [
  request(sendChat, { leftOut: { files: reasons.files } }),
  request(sendSessionMessage, {
    as: { '{id}': 'session_id' },
    leftOut: { files: reasons.files },
    differs: { '{id}': 'Without it the message goes to the current conversation.' },
    when: { session_id: 's1' },
  }),
  request(runTask, {
    as: { async_mode: 'async' },
    leftOut: {
      files: reasons.files,
      resume_session_id:
        'It names a session of the runtime, which a caller does not know; session_id names a conversation.',
      parent_execution_id: 'A caller does not know the id of its own run.',
      save_to_session: 'True if session_id is given.',
    },
    differs: { async_mode: 'The MCP contract gives a default, so null has no meaning.' },
    when: { parallel: true },
  }),
]
const own = {
  parallel: 'Chooses the endpoint.',
  idempotency_key: reasons.ownIdempotencyKey,
}

const waits =
  'Waits up to half a minute for the answer; longer work returns {"status":"queued_timeout","execution_id":…} and continues: call get_execution_result for it later, never send it again.'

export const chatTools: Tool[] = [
  tool({
    name: 'chat_with_agent',
    isCore: true,
    description: `Send a message to an agent and get its answer. The agent is a coding CLI with files and tools of its own: give it whole pieces of work. ${waits}`,
    audience: 'everyone',
    effect: 'write',
    requests,
    own,
    input: { agent_name: agentName, ...chatInput },
    run: (call, { agent_name, ...input }) => chat(call, agent_name, input),
  }),
  tool({
    name: 'get_chat_history',
    description: 'The newest messages of your conversations with an agent, oldest first.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getPersistentHistory)],
    input: {
      agent_name: agentName,
      limit: queryOf(getPersistentHistory).limit.unwrap().default(50).describe(words.limit),
    },
    run: ({ api }, { agent_name, ...query }) =>
      api.call(getPersistentHistory, { params: { name: agent_name }, query: asQuery(query) }),
  }),
]

export type ExposedAgent = { agent_name: string; tool_name: string; description: string }

/** The tool of one published agent. */
export function chatWith({ agent_name, tool_name, description }: ExposedAgent): Tool {
  return tool({
    name: tool_name,
    isCore: true,
    title: `Chat with ${description}`,
    description: `Send a message to the agent ${description} and get its answer. ${waits}`,
    audience: 'everyone',
    effect: 'write',
    requests: requests.map((form) => ({
      ...form,
      leftOut: { ...form.leftOut, '{name}': 'The tool belongs to one agent.' },
    })),
    own,
    input: chatInput,
    target: () => agent_name,
    run: (call, input) => chat(call, agent_name, input),
  })
}

async function chat(call: Call, agent: string, input: ChatInput): Promise<object> {
  refuseUnused(input)
  const work = input.parallel ? runAsTask(call, agent, input) : takeTurn(call, agent, input)
  try {
    return await call.waiting(`${agent} is working`, work)
  } catch (error) {
    return receiptOf(error, agent)
  }
}

/** Refuses parameters that would have no effect. */
function refuseUnused(input: ChatInput): void {
  const unused = input.parallel
    ? []
    : (['async', 'allowed_tools', 'system_prompt', 'max_turns', 'inject_result'] as const).filter(
        (name) => (input[name] ?? false) !== false,
      )
  if (unused.length > 0) {
    throw new Refusal('invalid_parameters', `${unused.join(', ')}: only with parallel=true.`)
  }
  if (!input.parallel && (input.timeout_seconds ?? null) !== null && (input.session_id ?? null) === null) {
    throw new Refusal('invalid_parameters', 'timeout_seconds: only with parallel=true or a session_id.')
  }
}

function headers(call: Call, input: ChatInput): Record<string, string> {
  return {
    accept: 'application/json',
    // The transcript is not part of the answer.
    prefer: `wait=${call.waitSeconds}, return=minimal`,
    ...idempotent(call, input.idempotency_key),
  }
}

async function takeTurn(call: Call, agent: string, input: ChatInput): Promise<object> {
  const { message, model, timeout_seconds } = input
  const session_id = input.session_id ?? null
  const common = { headers: headers(call, input), signal: call.signal }
  const reply =
    session_id === null
      ? await call.api.call(sendChat, { params: { name: agent }, body: { message, model }, ...common })
      : await call.api.call(sendSessionMessage, {
          params: { name: agent, id: session_id },
          body: { message, model, timeout_seconds },
          ...common,
        })
  if (reply.status === 'queued_timeout') return queuedTimeout(agent, reply.execution_id)
  return withoutLog(reply)
}

async function runAsTask(call: Call, agent: string, input: ChatInput): Promise<object> {
  const { message, model, allowed_tools, system_prompt, timeout_seconds, max_turns, session_id } = input
  const reply = await call.api.call(runTask, {
    params: { name: agent },
    body: {
      message,
      model,
      allowed_tools,
      system_prompt,
      timeout_seconds,
      max_turns,
      session_id,
      save_to_session: (session_id ?? null) !== null,
      inject_result: input.inject_result,
      async_mode: input.async,
    },
    headers: headers(call, input),
    signal: call.signal,
  })
  if (reply.status === 'accepted') {
    const { status, execution_id, message: text } = reply
    return { status, agent, execution_id, message: `${text} get_execution_result returns the result.` }
  }
  if (reply.status === 'queued_timeout') return queuedTimeout(agent, reply.execution_id)
  return withoutLog(reply)
}

/** The transcript would fill the context of the calling model; get_execution_result has it. */
export function withoutLog(reply: object): object {
  const { execution_log: _, ...rest } = reply as { execution_log?: unknown }
  return rest
}
