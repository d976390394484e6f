import { type PreCheckAnswer, preCheckSeconds } from '@roost/contracts/link/messages'
import type { Agent } from '../../agents/records/index.ts'
import { Fault } from '../../kit/fault.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Log } from '../../ports/log.ts'

/** Added to the hook's own timeout, to stop the hook and to transmit its answer. */
const answerSeconds = 10

export type PreCheckDeps = { link: Pick<AgentLink, 'call' | 'isConnected'>; log: Pick<Log, 'debug'> }

function ask({ link }: PreCheckDeps, agentId: string): Promise<PreCheckAnswer> {
  return link.call(agentId, 'precheck', {}, { timeoutSeconds: preCheckSeconds + answerSeconds })
}

/** `answer` is null when the hook could not be run. Without a link nobody is asked, and the result is null. */
export type Asked = { answer: PreCheckAnswer | null } | null

/**
 * Runs the hook in the agent's workspace. The fire continues when that fails for any reason, because a short loss of
 * the link must not silence a schedule.
 */
export function createPreCheck(deps: PreCheckDeps) {
  return async function preCheck(agentId: string): Promise<Asked> {
    // A failed call would count against the agent's link.
    if (!deps.link.isConnected(agentId)) return null
    try {
      return { answer: await ask(deps, agentId) }
    } catch (error) {
      deps.log.debug(
        { agent_id: agentId, err: error },
        'the pre-check hook could not be run; the fire continues',
      )
      return { answer: null }
    }
  }
}

/** Runs the hook on request. Throws `agent_stopped`, `agent_unresponsive`. */
export function createAskPreCheck(deps: PreCheckDeps) {
  return async function askPreCheck({ id, name, status }: Agent): Promise<PreCheckAnswer> {
    if (status !== 'running') throw new Fault('agent_stopped', `Agent ${name} is not running.`)
    try {
      return await ask(deps, id)
    } catch (error) {
      if (!(error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault))
        throw error
      throw new Fault('agent_unresponsive', `Agent ${name} did not answer.`, {}, { cause: error })
    }
  }
}
