import type { PlatformCalls } from '@roost/contracts/link/messages'
import {
  type AgentLink,
  type CallOptions,
  LinkDown,
  type PlatformCallName,
  type PlatformRequest,
} from './port.ts'

export type FakeAgentLink = AgentLink & {
  /**
   * From now on the agent is linked and answers calls of the named types so; others end as `LinkDown`, and so do
   * those that an older link was asked and has not answered.
   */
  link(agentId: string, answers?: FakeAnswers): void
  unlink(agentId: string): void
  /** No agent is linked any more: nothing waits for an answer. */
  unlinkAll(): void
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
  const agents = new Map<string, { answers: FakeAnswers; cut: PromiseWithResolvers<never> }>()
  const asked: FakeAgentLink['asked'] = []
  const unlink = (agentId: string) => {
    agents.get(agentId)?.cut.reject(new LinkDown())
    agents.delete(agentId)
  }
  return {
    asked,
    link(agentId, answers = {}) {
      unlink(agentId)
      const cut = Promise.withResolvers<never>()
      // Nobody has to be waiting for an answer.
      cut.promise.catch(() => {})
      agents.set(agentId, { answers, cut })
    },
    unlink,
    unlinkAll() {
      for (const agentId of agents.keys()) unlink(agentId)
    },
    async call<T extends PlatformCallName>(
      agentId: string,
      t: T,
      request: PlatformRequest<T>,
      options: CallOptions = {},
    ): Promise<PlatformCalls[T]['answer']> {
      options.signal?.throwIfAborted()
      asked.push({ agentId, t, request })
      const linked = agents.get(agentId)
      const answer = linked?.answers[t]
      if (!linked || !answer) throw new LinkDown()
      return Promise.race([answer(request), linked.cut.promise])
    },
    isConnected: (agentId) => agents.has(agentId),
    wake: (agentId) => void asked.push({ agentId, t: 'wake', request: {} }),
    disconnect(agentId) {
      asked.push({ agentId, t: 'disconnect', request: {} })
      unlink(agentId)
    },
  }
}
