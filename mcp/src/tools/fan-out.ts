import { FanOut, getFanOut, startFanOut } from '@roost/contracts/runs/fan-out'
import { receiptOf } from '../receipts.ts'
import { bodyOf, described, pathOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, idempotencyKey, idempotent, reasons, words } from './parameters.ts'

/** The shortest wait that the endpoint accepts. */
const minWaitSeconds = 10

export const fanOutTools: Tool[] = [
  tool({
    name: 'fan_out',
    isCore: true,
    description:
      'Give one agent up to 50 independent tasks and get all results in the same order. Each task is a run of its own without memory of the others. Waits up to half a minute; longer work returns {"status":"fan_out_timeout","fan_out_id":…} and continues: call get_fan_out_result later.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(startFanOut)],
    own: { idempotency_key: reasons.ownIdempotencyKey },
    input: {
      agent_name: agentName,
      ...described(bodyOf(startFanOut), {
        tasks: 'Each message must be complete: a task knows nothing of the others.',
        max_concurrency: 'Number of tasks that run at the same time. Defaults to 3.',
        timeout_seconds: 'How long to wait for results; tasks continue after it.',
        model: words.model,
        system_prompt: words.system_prompt,
        allowed_tools: words.allowed_tools,
        async_mode: 'true: return a fan_out_id immediately.',
      }),
      idempotency_key: idempotencyKey,
    },
    async run(call, { agent_name, idempotency_key, timeout_seconds, ...body }) {
      const longest = Math.max(call.waitSeconds, minWaitSeconds)
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
          message: `The tasks continue. Call get_fan_out_result for "${reply.fan_out_id}" later.`,
        }
      } catch (error) {
        return receiptOf(error, agent_name)
      }
    },
  }),
  tool({
    name: 'get_fan_out_result',
    isCore: true,
    description: 'The state of each task of a fan-out and the results so far, in order.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getFanOut)],
    input: {
      agent_name: agentName,
      fan_out_id: pathOf(getFanOut).fan_out_id.describe('The fan_out_id that fan_out returned.'),
    },
    output: FanOut,
    hides: true,
    run: ({ api }, { agent_name, fan_out_id }) =>
      api.call(getFanOut, { params: { name: agent_name, fan_out_id } }),
  }),
]
