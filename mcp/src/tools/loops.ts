import { ApiError } from '@roost/contracts/client'
import { getLoop, Loop, startLoop, stopLoop } from '@roost/contracts/runs/loops'
import { z } from 'zod'
import { Refusal } from '../refusals.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, allowedTools, idempotent, model } from './parameters.ts'

const loopId = z.string().min(1).describe('The loop_id that run_agent_loop gave you.')

export const loopTools: Tool[] = [
  tool({
    name: 'run_agent_loop',
    isCore: true,
    description:
      'Run the same message on an agent again and again, each run after the one before, until something ends it: max_runs, a stop signal in a reply, a budget, a deadline, no progress, or a failure. Answers at once with a loop_id; get_loop_status tells how it goes.',
    audience: 'everyone',
    effect: 'write',
    input: {
      agent_name: agentName.optional().describe('The agent to run; an agent that leaves it out runs itself.'),
      message: z
        .string()
        .min(1)
        .describe(
          'What each run is asked. {{run}} is its number from 1, {{previous_response}} the end of the last successful reply.',
        ),
      max_runs: z.number().int().min(1).max(100),
      stop_signal: z.string().optional().describe('The loop ends when a reply contains this text.'),
      delay_seconds: z.number().int().min(0).max(3600).optional().describe('Pause between two runs.'),
      timeout_per_run: z.number().int().min(10).max(7200).optional().describe('Seconds for one run.'),
      max_duration_seconds: z
        .number()
        .int()
        .min(1)
        .max(604_800)
        .optional()
        .describe('Deadline of the loop. It also limits the timeout of each run.'),
      max_cost_usd: z.number().positive().optional().describe('The loop ends when it has cost so much.'),
      no_progress_threshold: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('So many equal replies in a row end it; 3 when left out, 0 for never.'),
      on_failure: z
        .enum(['abort', 'continue'])
        .optional()
        .describe('After a failed run; abort when left out.'),
      max_consecutive_failures: z.number().int().min(1).max(100).optional(),
      model,
      allowed_tools: allowedTools,
    },
    async run(call, { agent_name, ...body }) {
      const { api, key } = call
      const name = agent_name ?? key.agent_name
      if (name === null) throw new Refusal('invalid_parameters', 'agent_name: which agent is to run?')
      try {
        const started = await api.call(startLoop, { params: { name }, body, headers: idempotent(call) })
        return { success: true, ...started }
      } catch (error) {
        // Denied access is told like everywhere; what is wrong with the loop is a result of its own.
        if (!(error instanceof ApiError) || error.status === 403 || error.status === 404) throw error
        return { success: false, error: error.message, code: error.body?.error ?? 'failed' }
      }
    },
  }),
  tool({
    name: 'get_loop_status',
    isCore: true,
    description: 'How a loop goes: its status and stop reason, its runs with their results and cost.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    input: { loop_id: loopId },
    output: Loop,
    run: ({ api }, params) => api.call(getLoop, { params }),
  }),
  tool({
    name: 'stop_loop',
    description: 'End a loop after the run that is going on now.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    input: { loop_id: loopId },
    run: ({ api }, params) => api.call(stopLoop, { params }),
  }),
]
