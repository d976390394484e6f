import type { AgentCalls, LinkError, PlatformCalls } from '@roost/contracts/link/messages'
import type { Partial } from '@roost/contracts/link/runs'

/**
 * The inner protocol spoken to one agent, whichever process of the platform holds its connection. An
 * agent's program dials in and keeps one link; a newer one replaces it.
 */
export type AgentLink = {
  /**
   * Asks the agent and waits for its answer, at most `answerSeconds` (30) unless `options` says otherwise.
   * Throws `LinkDown` when no link is there or it breaks, `LinkTimeout` when no answer comes in time, and
   * `LinkFault` when the agent answers with an error; an aborted signal throws its reason.
   */
  call<T extends PlatformCallName>(
    agentId: string,
    t: T,
    request: PlatformRequest<T>,
    options?: CallOptions,
  ): Promise<PlatformCalls[T]['answer']>
  /** A link is open and greeted, in this process or in another one that was heard from lately. */
  isConnected(agentId: string): boolean
  /** There is work: the agent should claim. Never waits, never throws; an agent without a link claims when it dials in. */
  wake(agentId: string): void
  /** Closes the link, wherever it is held: the agent was deleted or its key is void. */
  disconnect(agentId: string, code?: number, reason?: string): void
}

export type PlatformCallName = keyof PlatformCalls
export type PlatformRequest<T extends PlatformCallName> = Omit<PlatformCalls[T]['request'], 't'>
export type CallOptions = { signal?: AbortSignal; timeoutSeconds?: number }

/** Who dialled in, as the key says. */
export type LinkedAgent = { agentId: string; agentName: string; keyId: string }

/** What is done with an agent's messages; filled by the features, in `compose.ts`. */
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
  partial(agent: LinkedAgent, message: Partial): void
  /** The hello was answered: calls reach the agent from now on. */
  connected?(agent: LinkedAgent): void
  /** The link ended and no newer one took its place. */
  disconnected?(agent: LinkedAgent): void
}

/** No link to the agent, or it broke before the answer came. */
export class LinkDown extends Error {
  constructor(message = 'The agent has no link to the platform.') {
    super(message)
    this.name = 'LinkDown'
  }
}

/** The agent has a link and did not answer in time. */
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
