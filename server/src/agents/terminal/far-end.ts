import type { TerminalSize } from '@roost/contracts/agents/terminal'
import type { ExecReadAnswer } from '@roost/contracts/link/exec'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { type Closing, closingOfOpen, closings } from './rules.ts'

/** The container's side of a terminal. No input or output is lost when the link breaks and reconnects. */
export type FarEnd = {
  /** Null: the terminal is open. */
  open(): Promise<Closing | null>
  read(offset: number): Promise<ExecReadAnswer>
  /** Resolves when the terminal has accepted all bytes. */
  type(bytes: Buffer): Promise<void>
  resize(size: TerminalSize): Promise<void>
  /** Ends the shell. If the message is lost, the agent ends terminals that are no longer polled. */
  close(): Promise<void>
}

export type FarEndDeps = {
  link: Pick<AgentLink, 'call'>
  ask: CallAgent
  agentRecords: Pick<AgentRecords, 'byId'>
  clock: Clock
}

/** The reason a terminal ends. */
export class TerminalOver extends Error {
  readonly closing: Closing
  constructor(closing: Closing, cause?: unknown) {
    super(closing.reason, { cause })
    this.name = 'TerminalOver'
    this.closing = closing
  }
}

/** Maximum duration of a link outage. */
const maxOutageMs = 20_000
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
    // The cast is needed because TypeScript cannot derive the generic request from its parts.
    const completeRequest = { terminal_id, ...request } as Omit<PlatformCalls[T]['request'], 't'>
    let giveUpAt: number | null = null
    for (;;) {
      try {
        return await link.call(agent.id, t, completeRequest, { signal })
      } catch (error) {
        if (error instanceof LinkFault) throw new TerminalOver(closings.lost, error)
        if (!(error instanceof LinkDown || error instanceof LinkTimeout)) throw error
        const now = clock.now().getTime()
        giveUpAt ??= now + maxOutageMs
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
        // Continues even if the client left: a terminal that was not awaited could not be closed.
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
        const { taken } = await call('exec.data', { offset: typed, data_base64 })
        // Its program does not read now.
        if (taken <= typed) {
          await clock.wait(retryMs, signal)
          signal.throwIfAborted()
        }
        typed = Math.min(end, Math.max(typed, taken))
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
