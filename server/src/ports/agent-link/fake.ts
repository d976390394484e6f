import type { PlatformCalls } from '@roost/contracts/link/messages'
import {
  type AgentLink,
  type CallOptions,
  LinkDown,
  type PlatformCallName,
  type PlatformRequest,
} from './port.ts'

export type FakeAgentLink = AgentLink & {
  /** From now on the agent is linked and answers calls of the named types so; others end as `LinkDown`. */
  link(agentId: string, answers?: FakeAnswers): void
  unlink(agentId: string): void
  /** Everything that was asked, in order; wakes and disconnects included. */
  readonly asked: { agentId: string; t: string; request: unknown }[]
}

export type FakeAnswers = {
  [T in PlatformCallName]?: (
    request: PlatformRequest<T>,
  ) => PlatformCalls[T]['answer'] | Promise<PlatformCalls[T]['answer']>
}

/** Links in memory, for tests of features that ask agents. */
export function createFakeAgentLink(): FakeAgentLink {
  const agents = new Map<string, FakeAnswers>()
  const asked: FakeAgentLink['asked'] = []
  return {
    asked,
    link: (agentId, answers = {}) => void agents.set(agentId, answers),
    unlink: (agentId) => void agents.delete(agentId),
    async call<T extends PlatformCallName>(
      agentId: string,
      t: T,
      request: PlatformRequest<T>,
      options: CallOptions = {},
    ): Promise<PlatformCalls[T]['answer']> {
      options.signal?.throwIfAborted()
      asked.push({ agentId, t, request })
      const answer = agents.get(agentId)?.[t]
      if (!answer) throw new LinkDown()
      return answer(request)
    },
    isConnected: (agentId) => agents.has(agentId),
    wake: (agentId) => void asked.push({ agentId, t: 'wake', request: {} }),
    disconnect(agentId) {
      asked.push({ agentId, t: 'disconnect', request: {} })
      agents.delete(agentId)
    },
  }
}
