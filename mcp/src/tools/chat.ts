import { getPersistentHistory, sendChat, sendSessionMessage } from '@roost/contracts/conversations/chat'
import { runTask } from '@roost/contracts/runs/tasks'
import { z } from 'zod'
import { queuedTimeout, receiptOf } from '../receipts.ts'
import { Refusal } from '../refusals.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { agentName, allowedTools, idempotencyKey, idempotent, model, systemPrompt } from './parameters.ts'

const chatInput = {
  message: z.string().min(1).describe('What you say to the agent, or ask of it.'),
  parallel: z
    .boolean()
    .default(false)
    .describe(
      'false: one turn in your conversation with the agent, which remembers earlier turns; turns wait for each other. true: a task of its own without memory, beside others.',
    ),
  async: z
    .boolean()
    .default(false)
    .describe('With parallel: do not wait, answer at once with an execution_id.'),
  model,
  allowed_tools: allowedTools,
  system_prompt: systemPrompt,
  timeout_seconds: z
    .number()
    .int()
    .min(10)
    .optional()
    .describe('How long the run may take, at most as long as the agent allows. Left out: just that.'),
  max_turns: z
    .number()
    .int()
    .min(1)
    .max(500)
    .optional()
    .describe('How often the model may be asked in this run.'),
  session_id: z
    .string()
    .optional()
    .describe('A conversation of yours with the agent; the current one when left out.'),
  inject_result: z
    .boolean()
    .optional()
    .describe('With parallel, for an agent that calls itself: the result becomes a message of session_id.'),
  idempotency_key: idempotencyKey,
} as const
type ChatInput = z.output<z.ZodObject<typeof chatInput>>

const waits =
  'Waits up to half a minute for the answer; longer work answers {"status":"queued_timeout","execution_id":…} and goes on: ask get_execution_result for it later, never send it again.'

export const chatTools: Tool[] = [
  tool({
    name: 'chat_with_agent',
    isCore: true,
    description: `Send a message to an agent and get its answer. The agent is a coding CLI with files and tools of its own: give it whole pieces of work. ${waits}`,
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName, ...chatInput },
    run: (call, { agent_name, ...asked }) => chat(call, agent_name, asked),
  }),
  tool({
    name: 'get_chat_history',
    description: 'The newest messages of your conversations with an agent, oldest first.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName, limit: z.number().int().min(1).max(1000).default(50) },
    run: ({ api }, { agent_name, limit }) =>
      api.call(getPersistentHistory, { params: { name: agent_name }, query: { limit: String(limit) } }),
  }),
]

export type ExposedAgent = { agent_name: string; tool_name: string; description: string }

/** The tool of one agent that is published by itself. */
export function chatWith({ agent_name, tool_name, description }: ExposedAgent): Tool {
  return tool({
    name: tool_name,
    isCore: true,
    title: `Chat with ${description}`,
    description: `Send a message to the agent ${description} and get its answer. ${waits}`,
    audience: 'everyone',
    effect: 'write',
    input: chatInput,
    target: () => agent_name,
    run: (call, asked) => chat(call, agent_name, asked),
  })
}

async function chat(call: Call, agent: string, asked: ChatInput): Promise<object> {
  refuseUnused(asked)
  const work = asked.parallel ? task(call, agent, asked) : turn(call, agent, asked)
  try {
    return await call.waiting(`${agent} is working`, work)
  } catch (error) {
    return receiptOf(error, agent)
  }
}

/** A parameter that would do nothing is told instead of left aside. */
function refuseUnused(asked: ChatInput): void {
  const unused = asked.parallel
    ? []
    : (['async', 'allowed_tools', 'system_prompt', 'max_turns', 'inject_result'] as const).filter(
        (name) => asked[name] !== undefined && asked[name] !== false,
      )
  if (unused.length > 0) {
    throw new Refusal('invalid_parameters', `${unused.join(', ')}: only with parallel=true.`)
  }
  if (!asked.parallel && asked.timeout_seconds !== undefined && asked.session_id === undefined) {
    throw new Refusal('invalid_parameters', 'timeout_seconds: only with parallel=true or a session_id.')
  }
}

function headers(call: Call, asked: ChatInput): Record<string, string> {
  return {
    accept: 'application/json',
    // The transcript is left out of the answer anyway.
    prefer: `wait=${call.waitSeconds}, return=minimal`,
    ...idempotent(call, asked.idempotency_key),
  }
}

async function turn(call: Call, agent: string, asked: ChatInput): Promise<object> {
  const { message, model, session_id, timeout_seconds } = asked
  const common = { headers: headers(call, asked), signal: call.signal }
  const reply =
    session_id === undefined
      ? await call.api.call(sendChat, { params: { name: agent }, body: { message, model }, ...common })
      : await call.api.call(sendSessionMessage, {
          params: { name: agent, id: session_id },
          body: { message, model, timeout_seconds },
          ...common,
        })
  if (reply.status === 'queued_timeout') return queuedTimeout(agent, reply.execution_id)
  return withoutLog(reply)
}

async function task(call: Call, agent: string, asked: ChatInput): Promise<object> {
  const { message, model, allowed_tools, system_prompt, timeout_seconds, max_turns, session_id } = asked
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
      save_to_session: session_id !== undefined,
      inject_result: asked.inject_result,
      async_mode: asked.async,
    },
    headers: headers(call, asked),
    signal: call.signal,
  })
  if (reply.status === 'accepted') {
    const { status, execution_id, message: words } = reply
    return { status, agent, execution_id, message: `${words} get_execution_result brings the result.` }
  }
  if (reply.status === 'queued_timeout') return queuedTimeout(agent, reply.execution_id)
  return withoutLog(reply)
}

/** The whole transcript would fill the memory of the model that asked; get_execution_result has it. */
export function withoutLog(reply: object): object {
  const { execution_log: _, ...rest } = reply as { execution_log?: unknown }
  return rest
}
