import { ApiError } from '@roost/contracts/client'
import { getLoop, Loop, startLoop, stopLoop } from '@roost/contracts/runs/loops'
import { Refusal } from '../refusals.ts'
import { bodyOf, described, pathOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, idempotent, words } from './parameters.ts'

const one = {
  loop_id: pathOf(getLoop).loop_id.describe('The loop_id that run_agent_loop returned.'),
} as const

export const loopTools: Tool[] = [
  tool({
    name: 'run_agent_loop',
    isCore: true,
    description:
      'Run the same message on an agent repeatedly, one run after another, until a limit is reached: max_runs, a stop signal in a reply, a budget, a deadline, no progress, or a failure. Returns a loop_id immediately; get_loop_status shows its progress.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(startLoop, { differs: { '{name}': 'An agent that leaves it out runs itself.' } })],
    input: {
      agent_name: agentName.optional().describe('The agent to run; an agent that leaves it out runs itself.'),
      ...described(bodyOf(startLoop), {
        message:
          'The message of each run. {{run}} is its number from 1, {{previous_response}} the end of the last successful reply.',
        stop_signal: 'The loop ends when a reply contains this text.',
        delay_seconds: 'Pause between two runs.',
        timeout_per_run: 'Seconds for one run.',
        max_duration_seconds: 'Deadline of the loop.',
        max_cost_usd: 'The loop ends when its runs have cost this much.',
        no_progress_threshold: 'Equal replies in a row that end the loop; 0 for never.',
        on_failure: 'What happens after a failed run.',
        max_consecutive_failures: 'With on_failure "continue": failed runs in a row that end the loop.',
        model: words.model,
        allowed_tools: words.allowed_tools,
      }),
    },
    async run(call, { agent_name, ...body }) {
      const { api, key } = call
      const name = agent_name ?? key.agent_name
      if (name === null) throw new Refusal('invalid_parameters', 'agent_name: is required with this key.')
      try {
        const started = await api.call(startLoop, { params: { name }, body, headers: idempotent(call) })
        return { success: true, ...started }
      } catch (error) {
        // Denied access is a refusal as everywhere; a fault of the loop itself is a result.
        if (!(error instanceof ApiError) || error.status === 403 || error.status === 404) throw error
        return { success: false, error: error.message, code: error.body?.error ?? 'failed' }
      }
    },
  }),
  tool({
    name: 'get_loop_status',
    isCore: true,
    description: 'The status and stop reason of a loop, and its runs with results and cost.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    requests: [request(getLoop)],
    input: one,
    output: Loop,
    run: ({ api }, params) => api.call(getLoop, { params }),
  }),
  tool({
    name: 'stop_loop',
    description: 'End a loop after its current run.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    requests: [request(stopLoop)],
    input: one,
    run: ({ api }, params) => api.call(stopLoop, { params }),
  }),
]
