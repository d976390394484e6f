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
   * Links the agent. It answers calls of the given types; others fail with `LinkDown`. Pending calls of an
   * earlier link fail with `LinkDown` too.
   */
  link(agentId: string, answers?: FakeAnswers): void
  unlink(agentId: string): void
  /** Unlinks all agents; pending calls fail. */
  unlinkAll(): void
  /** All calls in order, including wakes and disconnects. */
  readonly calls: { agentId: string; t: string; request: unknown }[]
}

export type FakeAnswers = {
  [T in PlatformCallName]?: (
    request: PlatformRequest<T>,
  ) => PlatformCalls[T]['answer'] | Promise<PlatformCalls[T]['answer']>
}

/** Links in memory, for tests of features that call agents. */
export function createFakeAgentLink(): FakeAgentLink {
  const agents = new Map<string, { answers: FakeAnswers; cut: PromiseWithResolvers<never> }>()
  const calls: FakeAgentLink['calls'] = []
  const unlink = (agentId: string) => {
    agents.get(agentId)?.cut.reject(new LinkDown())
    agents.delete(agentId)
  }
  return {
    calls,
    link(agentId, answers = {}) {
      unlink(agentId)
      const cut = Promise.withResolvers<never>()
      // The promise may have no waiter.
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
      calls.push({ agentId, t, request })
      const linked = agents.get(agentId)
      const answer = linked?.answers[t]
      if (!linked || !answer) throw new LinkDown()
      return Promise.race([answer(request), linked.cut.promise])
    },
    isConnected: (agentId) => agents.has(agentId),
    isHere: (agentId) => agents.has(agentId),
    wake: (agentId) => void calls.push({ agentId, t: 'wake', request: {} }),
    disconnect(agentId) {
      calls.push({ agentId, t: 'disconnect', request: {} })
      unlink(agentId)
    },
  }
}
