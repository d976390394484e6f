import { type RunRequest, readSource } from '../dispatch/index.ts'
import { messageOf } from './rules.ts'
import type { LoopRow } from './store.ts'

/** A loop that starts has no depth yet: its first run gets one, as a call of whoever starts the loop. */
type StartedLoop = Omit<LoopRow, 'chain_depth'> & { chain_depth?: number }

/** Run `number` of a loop, as a request to dispatch. */
export function runRequest(
  loop: StartedLoop,
  run: {
    number: number
    /** The last successful reply; null before there is one. */
    previous: string | null
    /** Seconds; null means the agent's own. */
    timeoutSeconds: number | null
  },
): RunRequest {
  const { number, previous, timeoutSeconds } = run
  return {
    agentId: loop.agent_id,
    kind: 'task',
    triggeredBy: 'loop',
    message: messageOf(loop.message, number, previous),
    source: readSource(loop.source),
    model: loop.model,
    timeoutSeconds,
    // Written by this feature from a list of names.
    allowedTools: loop.allowed_tools === null ? null : (JSON.parse(loop.allowed_tools) as string[]),
    links: { loopId: loop.id },
    chainDepth: loop.chain_depth,
  }
}
