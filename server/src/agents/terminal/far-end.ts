import type { TerminalSize } from '@roost/contracts/agents/terminal'
import type { ExecReadAnswer } from '@roost/contracts/link/exec'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { type Closing, closingOfOpen, closings } from './rules.ts'

/** The container's side of a terminal. A link that breaks and comes back costs nothing that was typed or written. */
export type FarEnd = {
  /** Null: it is there. */
  open(): Promise<Closing | null>
  read(offset: number): Promise<ExecReadAnswer>
  /** Resolves when the terminal has taken all of it. */
  type(bytes: Buffer): Promise<void>
  resize(size: TerminalSize): Promise<void>
  /** Ends the shell. Should nobody hear it, the agent ends what is not asked about. */
  close(): Promise<void>
}

export type FarEndDeps = {
  link: Pick<AgentLink, 'call'>
  ask: CallAgent
  agentRecords: Pick<AgentRecords, 'byId'>
  clock: Clock
}

/** Why a terminal cannot go on. */
export class TerminalOver extends Error {
  readonly closing: Closing
  constructor(closing: Closing, cause?: unknown) {
    super(closing.reason, { cause })
    this.name = 'TerminalOver'
    this.closing = closing
  }
}

/** For how long a link may be away. */
const patienceMs = 20_000
const retryMs = 250
const closeSeconds = 5

type ExecCall = 'exec.data' | 'exec.read' | 'exec.resize'

export function createFarEnd(
  deps: FarEndDeps,
  of: { agent: Agent; terminalId: string; size: TerminalSize; signal: AbortSignal },
): FarEnd {
  const { link, ask, agentRecords, clock } = deps
  const { agent, terminalId: terminal_id, signal } = of
  let typed = 0

  async function call<T extends ExecCall>(
    t: T,
    request: Omit<PlatformCalls[T]['request'], 't' | 'terminal_id'>,
  ): Promise<PlatformCalls[T]['answer']> {
    // The id and the rest are the request; the compiler does not put a generic one together.
    const whole = { terminal_id, ...request } as Omit<PlatformCalls[T]['request'], 't'>
    let giveUpAt: number | null = null
    for (;;) {
      try {
        return await link.call(agent.id, t, whole, { signal })
      } catch (error) {
        if (error instanceof LinkFault) throw new TerminalOver(closings.gone, error)
        if (!(error instanceof LinkDown || error instanceof LinkTimeout)) throw error
        const now = clock.now().getTime()
        giveUpAt ??= now + patienceMs
        if ((await agentRecords.byId(agent.id))?.status !== 'running')
          throw new TerminalOver(closings.stopped, error)
        if (now >= giveUpAt) throw new TerminalOver(closings.unresponsive, error)
      }
      await clock.wait(retryMs, signal)
      signal.throwIfAborted()
    }
  }

  return {
    async open() {
      try {
        // Also for a client that has left: what is not waited for could not be closed.
        return closingOfOpen(await ask(agent, 'exec.open', { terminal_id, ...of.size }))
      } catch (error) {
        if (error instanceof LinkFault)
          return error.code === 'unknown_message' ? closings.outdated : closings.failed
        if (!isFault(error)) throw error
        return error.code === 'agent_stopped' ? closings.stopped : closings.unresponsive
      }
    },
    read: (offset) => call('exec.read', { offset }),
    async type(bytes) {
      const from = typed
      const end = from + bytes.length
      while (typed < end) {
        const data_base64 = bytes.subarray(typed - from).toString('base64')
        typed = Math.max(typed, (await call('exec.data', { offset: typed, data_base64 })).taken)
      }
    },
    resize: async (size) => void (await call('exec.resize', size)),
    async close() {
      await link
        .call(agent.id, 'exec.close', { terminal_id }, { timeoutSeconds: closeSeconds })
        .catch(() => {})
    },
  }
}
