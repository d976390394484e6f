import { FanOut, getFanOut, startFanOut } from '@roost/contracts/runs/fan-out'
import { z } from 'zod'
import { receiptOf } from '../receipts.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, allowedTools, idempotencyKey, idempotent, model, systemPrompt } from './parameters.ts'

/** The least that a fan-out can be told to wait. */
const leastWaitSeconds = 10

export const fanOutTools: Tool[] = [
  tool({
    name: 'fan_out',
    isCore: true,
    description:
      'Give one agent up to 50 independent tasks at once and get all results in the same order. Each task is a run of its own without memory of the others. Waits up to half a minute; longer work answers {"status":"fan_out_timeout","fan_out_id":…} and goes on: ask get_fan_out_result later.',
    audience: 'everyone',
    effect: 'write',
    input: {
      agent_name: agentName,
      tasks: z
        .array(
          z.strictObject({
            id: z.string().optional().describe('Names the task in the results; t1, t2, … when left out.'),
            message: z.string().min(1).describe('The whole task: it knows nothing of the others.'),
          }),
        )
        .min(1)
        .max(50),
      max_concurrency: z
        .number()
        .int()
        .min(1)
        .max(10)
        .optional()
        .describe('How many run at a time; 3 when left out.'),
      timeout_seconds: z
        .number()
        .int()
        .min(10)
        .max(86_400)
        .optional()
        .describe('How long you are ready to wait for results; tasks go on after it.'),
      model,
      system_prompt: systemPrompt,
      allowed_tools: allowedTools,
      async_mode: z.boolean().default(false).describe('true: answer at once with a fan_out_id.'),
      idempotency_key: idempotencyKey,
    },
    async run(call, { agent_name, idempotency_key, timeout_seconds, ...body }) {
      const longest = Math.max(call.waitSeconds, leastWaitSeconds)
      const work = call.api.call(startFanOut, {
        params: { name: agent_name },
        body: { ...body, timeout_seconds: Math.min(timeout_seconds ?? longest, longest) },
        headers: idempotent(call, idempotency_key),
        signal: call.signal,
      })
      try {
        const reply = await call.waiting(`${agent_name} works on ${body.tasks.length} tasks`, work)
        if (reply.status !== 'deadline_exceeded') return reply
        return {
          status: 'fan_out_timeout',
          agent: agent_name,
          fan_out_id: reply.fan_out_id,
          execution_ids: reply.results.map(({ execution_id }) => execution_id),
          task_count: reply.total,
          message: `The tasks go on. Ask get_fan_out_result for "${reply.fan_out_id}" in a while.`,
        }
      } catch (error) {
        return receiptOf(error, agent_name)
      }
    },
  }),
  tool({
    name: 'get_fan_out_result',
    isCore: true,
    description: 'How a fan-out stands: the state of each of its tasks and the results so far, in order.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName, fan_out_id: z.string().min(1) },
    output: FanOut,
    hides: true,
    run: ({ api }, { agent_name, fan_out_id }) =>
      api.call(getFanOut, { params: { name: agent_name, fan_out_id } }),
  }),
]
