import type { PlatformCalls } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import {
  type AgentLink,
  LinkDown,
  LinkTimeout,
  type PlatformCallName,
  type PlatformRequest,
} from '../../ports/agent-link/port.ts'
import type { Agent } from '../records/index.ts'

/**
 * Calls the program inside a running agent. Throws `agent_stopped` if the agent is not running and
 * `agent_unresponsive` if it does not answer. `LinkFault` is passed through for the caller to map.
 */
export type CallAgent = <T extends PlatformCallName>(
  agent: Pick<Agent, 'id' | 'name' | 'status'>,
  t: T,
  request: PlatformRequest<T>,
  signal?: AbortSignal,
) => Promise<PlatformCalls[T]['answer']>

export type AgentRpcDeps = { link: Pick<AgentLink, 'call' | 'isConnected'>; clock: Clock }

/** A container that just started connects within seconds. */
const maxConnectMs = 20_000
const pollEveryMs = 50

export function createAgentRpc({ link, clock }: AgentRpcDeps): CallAgent {
  async function waitForLink(agentId: string, signal: AbortSignal | undefined): Promise<void> {
    const giveUpAt = clock.now().getTime() + maxConnectMs
    while (!link.isConnected(agentId) && clock.now().getTime() < giveUpAt) {
      await clock.wait(pollEveryMs, signal)
      signal?.throwIfAborted()
    }
  }

  return async (agent, t, request, signal) => {
    if (agent.status !== 'running') {
      throw new Fault('agent_stopped', `Agent ${agent.name} is not running.`)
    }
    await waitForLink(agent.id, signal)
    try {
      return await link.call(agent.id, t, request, { signal })
    } catch (error) {
      if (!(error instanceof LinkDown || error instanceof LinkTimeout)) throw error
      throw new Fault('agent_unresponsive', `Agent ${agent.name} did not answer.`, {}, { cause: error })
    }
  }
}
