import { gitCallSeconds } from '@roost/contracts/link/git'
import { Fault } from '../../kit/fault.ts'
import {
  type AgentLink,
  LinkDown,
  LinkTimeout,
  type PlatformCallName,
  type PlatformRequest,
} from '../../ports/agent-link/port.ts'
import type { Agent } from '../records/index.ts'

/** Calls the git functions of the program in a container. */
export function createAsk(link: Pick<AgentLink, 'call'>) {
  /** Throws `agent_stopped`, `agent_unresponsive`. */
  return async <T extends Extract<PlatformCallName, `git.${string}`>>(
    agent: Pick<Agent, 'id' | 'name' | 'status'>,
    t: T,
    request: PlatformRequest<T>,
  ) => {
    if (agent.status !== 'running') throw new Fault('agent_stopped', `Agent ${agent.name} is not running.`)
    try {
      return await link.call(agent.id, t, request, { timeoutSeconds: gitCallSeconds })
    } catch (error) {
      if (!(error instanceof LinkDown || error instanceof LinkTimeout)) throw error
      throw new Fault('agent_unresponsive', `Agent ${agent.name} did not answer.`, {}, { cause: error })
    }
  }
}

export type Ask = ReturnType<typeof createAsk>
