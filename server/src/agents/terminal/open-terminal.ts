import { defaultTerminalSize, type TerminalSize, terminalIdleSeconds } from '@roost/contracts/agents/terminal'
import { terminalChunkBytes } from '@roost/contracts/link/exec'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent } from '../records/index.ts'
import { createClientSocket } from './client-socket.ts'
import { createFarEnd, type FarEndDeps, TerminalOver } from './far-end.ts'
import { type Closing, closingOfExit, closings, createPace, type FromClient } from './rules.ts'

/** A terminal handled by this process: the person's socket on one side, the agent on the other. */
export type OpenTerminal = {
  /** Ends the terminal for the first given reason; then `done` resolves. */
  end(closing: Closing): void
  /** Resolves when the agent was informed of the end. Never rejects. */
  readonly done: Promise<void>
}

export type OpenTerminalDeps = FarEndDeps & { clock: Clock; log: Log }

/** Pending input in bytes above which reading from the client pauses. */
const maxPendingInputBytes = 4 * terminalChunkBytes
const checkEveryMs = 30_000

/** `look` is called periodically to verify that the terminal may stay open. */
export function openTerminal(
  deps: OpenTerminalDeps,
  of: { agent: Agent; socket: WebSocket; look(): void },
): OpenTerminal {
  const { clock, log } = deps
  const ending = new AbortController()
  const { signal } = ending
  const size = { ...defaultTerminalSize }
  const far = createFarEnd(deps, { agent: of.agent, terminalId: newId(), size, signal })
  let lastActivityAt = clock.now().getTime()
  let typed: Buffer[] = []
  let typedBytes = 0
  let newSize: TerminalSize | null = null
  let inputArrived = Promise.withResolvers<void>()

  function end(closing: Closing): void {
    if (signal.aborted) return
    ending.abort()
    inputArrived.resolve()
    client.close(closing)
  }

  const client = createClientSocket(of.socket, {
    clock,
    on: { frame: receive, closed: () => end(closings.left) },
  })

  function receive(frame: FromClient): void {
    lastActivityAt = clock.now().getTime()
    if ('resize' in frame) newSize = frame.resize ?? newSize
    else {
      typed.push(frame.typed)
      typedBytes += frame.typed.length
      if (typedBytes > maxPendingInputBytes) client.hold(true)
    }
    inputArrived.resolve()
  }

  /** Sends input in order and in chunks; of several sizes only the last counts. */
  async function forwardInput(): Promise<void> {
    for (;;) {
      await inputArrived.promise
      signal.throwIfAborted()
      inputArrived = Promise.withResolvers()
      const requestedSize = newSize
      newSize = null
      if (requestedSize) await far.resize(requestedSize)
      const bytes = Buffer.concat(typed)
      typed = []
      for (let at = 0; at < bytes.length; at += terminalChunkBytes) {
        await far.type(bytes.subarray(at, at + terminalChunkBytes))
      }
      typedBytes -= bytes.length
      if (typedBytes <= maxPendingInputBytes && !signal.aborted) client.hold(false)
    }
  }

  /**
   * Requests the next chunk only after the client accepted the last one, so a client that stops reading
   * blocks the program.
   */
  async function forwardOutput(): Promise<void> {
    const pace = createPace()
    for (let offset = 0; ; ) {
      const { data_base64, ended } = await far.read(offset)
      const bytes = Buffer.from(data_base64, 'base64')
      offset += bytes.length
      if (bytes.length > 0) {
        lastActivityAt = clock.now().getTime()
        if (!(await client.send(bytes, signal))) throw new TerminalOver(closings.slow)
        const waitMs = pace(bytes.length, clock.now().getTime())
        if (waitMs > 0) await clock.wait(waitMs, signal)
      }
      signal.throwIfAborted()
      if (ended) throw new TerminalOver(closingOfExit(ended.exit_code))
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      await clock.wait(checkEveryMs, signal)
      signal.throwIfAborted()
      if (!client.ping()) throw new TerminalOver(closings.slow)
      if (clock.now().getTime() - lastActivityAt >= terminalIdleSeconds * 1000)
        throw new TerminalOver(closings.idle)
      of.look()
    }
  }

  async function run(): Promise<void> {
    const refused = await far.open()
    if (refused) return end(refused)
    try {
      signal.throwIfAborted()
      await Promise.all([forwardInput(), forwardOutput(), watch()])
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof TerminalOver) return end(error.closing)
      log.error({ err: error, agent: of.agent.name }, 'a terminal failed')
      end(closings.failed)
    } finally {
      await far.close()
    }
  }

  const done = run().catch((error: unknown) => {
    log.error({ err: error, agent: of.agent.name }, 'could not open a terminal')
    end(closings.failed)
  })
  return { end, done }
}
