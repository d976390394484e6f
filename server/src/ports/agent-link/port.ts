import type { AgentCalls, LinkError, PlatformCalls } from '@roost/contracts/link/messages'
import type { Partial } from '@roost/contracts/link/runs'

/**
 * Calls an agent through whichever process of the platform holds its connection. An agent's program opens one
 * link; a newer one replaces it.
 */
export type AgentLink = {
  /**
   * Sends a request and waits for the answer, for `answerSeconds` (30) unless `options` differ. Throws
   * `LinkDown` without a link or when it breaks, `LinkTimeout` without an answer in time, and `LinkFault` for
   * an error. An aborted signal throws its reason.
   */
  call<T extends PlatformCallName>(
    agentId: string,
    t: T,
    request: PlatformRequest<T>,
    options?: CallOptions,
  ): Promise<PlatformCalls[T]['answer']>
  /** True when a greeted link exists in this process or in a recently active other one. */
  isConnected(agentId: string): boolean
  /** True when a greeted link exists in this process. */
  isHere(agentId: string): boolean
  /**
   * Tells the agent that work is waiting. Never waits or throws; an unlinked agent claims when it connects.
   */
  wake(agentId: string): void
  /** Closes the link in any process, because the agent was deleted or its key revoked. */
  disconnect(agentId: string, code?: number, reason?: string): void
}

export type PlatformCallName = keyof PlatformCalls
export type PlatformRequest<T extends PlatformCallName> = Omit<PlatformCalls[T]['request'], 't'>
export type CallOptions = { signal?: AbortSignal; timeoutSeconds?: number }

/** The connected agent, as identified by its key. */
export type LinkedAgent = { agentId: string; agentName: string; keyId: string }

/** Handlers of agents' messages, provided by the features in `compose.ts`. */
export type LinkHandlers = {
  hello(agent: LinkedAgent, message: AgentCalls['hello']['request']): Promise<AgentCalls['hello']['answer']>
  claim(agent: LinkedAgent, message: AgentCalls['claim']['request']): Promise<AgentCalls['claim']['answer']>
  started(
    agent: LinkedAgent,
    message: AgentCalls['started']['request'],
  ): Promise<AgentCalls['started']['answer']>
  lines(agent: LinkedAgent, message: AgentCalls['lines']['request']): Promise<AgentCalls['lines']['answer']>
  result(
    agent: LinkedAgent,
    message: AgentCalls['result']['request'],
  ): Promise<AgentCalls['result']['answer']>
  beat(agent: LinkedAgent, message: AgentCalls['beat']['request']): Promise<AgentCalls['beat']['answer']>
  attachment(
    agent: LinkedAgent,
    message: AgentCalls['attachment']['request'],
  ): Promise<AgentCalls['attachment']['answer']>
  queue(agent: LinkedAgent, message: AgentCalls['queue']['request']): Promise<AgentCalls['queue']['answer']>
  template(
    agent: LinkedAgent,
    message: AgentCalls['template']['request'],
  ): Promise<AgentCalls['template']['answer']>
  /** Resolves when the piece was sent to readers or dropped. */
  partial(agent: LinkedAgent, message: Partial): Promise<void>
  /** Called after the hello was answered, when calls can reach the agent. */
  connected?(agent: LinkedAgent): void
  /** Called when the link ended without a newer one. */
  disconnected?(agent: LinkedAgent): void
}

/** The agent has no link, or it broke before the answer. */
export class LinkDown extends Error {
  constructor(message = 'The agent has no link to the platform.') {
    super(message)
    this.name = 'LinkDown'
  }
}

/** The linked agent did not answer in time. */
export class LinkTimeout extends Error {
  constructor(message = 'The agent did not answer in time.') {
    super(message)
    this.name = 'LinkTimeout'
  }
}

/** The agent answered with a named error. */
export class LinkFault extends Error {
  readonly code: LinkError['code']
  constructor(error: LinkError) {
    super(error.message)
    this.name = 'LinkFault'
    this.code = error.code
  }
}
