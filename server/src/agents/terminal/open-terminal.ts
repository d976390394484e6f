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

/** A terminal that this process carries: the person's socket on one side, the agent on the other. */
export type OpenTerminal = {
  /** Ends it, for the first reason given; `done` then follows. */
  end(closing: Closing): void
  /** Resolves when the agent was told of the end. Never rejects. */
  readonly done: Promise<void>
}

export type OpenTerminalDeps = FarEndDeps & { clock: Clock; log: Log }

/** Typed and not taken yet, in bytes, above which the client is read no further. */
const typedMost = 4 * terminalChunkBytes
const lookEveryMs = 30_000

/** `look`: makes sure that it may stay open; called from time to time. */
export function openTerminal(
  deps: OpenTerminalDeps,
  of: { agent: Agent; socket: WebSocket; look(): void },
): OpenTerminal {
  const { clock, log } = deps
  const over = new AbortController()
  const { signal } = over
  const size = { ...defaultTerminalSize }
  const far = createFarEnd(deps, { agent: of.agent, terminalId: newId(), size, signal })
  let lastAct = clock.now().getTime()
  let typed: Buffer[] = []
  let typedBytes = 0
  let newSize: TerminalSize | null = null
  let told = Promise.withResolvers<void>()

  function end(closing: Closing): void {
    if (signal.aborted) return
    over.abort()
    told.resolve()
    client.close(closing)
  }

  const client = createClientSocket(of.socket, {
    clock,
    on: { frame: take, closed: () => end(closings.left) },
  })

  function take(frame: FromClient): void {
    lastAct = clock.now().getTime()
    if ('resize' in frame) newSize = frame.resize ?? newSize
    else {
      typed.push(frame.typed)
      typedBytes += frame.typed.length
      if (typedBytes > typedMost) client.hold(true)
    }
    told.resolve()
  }

  /** What was typed goes in order and in pieces; of several sizes the last one counts. */
  async function carryIn(): Promise<void> {
    for (;;) {
      await told.promise
      signal.throwIfAborted()
      told = Promise.withResolvers()
      const wanted = newSize
      newSize = null
      if (wanted) await far.resize(wanted)
      const bytes = Buffer.concat(typed)
      typed = []
      for (let at = 0; at < bytes.length; at += terminalChunkBytes) {
        await far.type(bytes.subarray(at, at + terminalChunkBytes))
      }
      typedBytes -= bytes.length
      if (typedBytes <= typedMost && !signal.aborted) client.hold(false)
    }
  }

  /** Asks for the next piece once the client has taken the one before: who reads nothing holds the program up. */
  async function carryOut(): Promise<void> {
    const pace = createPace()
    for (let offset = 0; ; ) {
      const { data_base64, ended } = await far.read(offset)
      const bytes = Buffer.from(data_base64, 'base64')
      offset += bytes.length
      if (bytes.length > 0) {
        lastAct = clock.now().getTime()
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
      await clock.wait(lookEveryMs, signal)
      signal.throwIfAborted()
      if (!client.ping()) throw new TerminalOver(closings.slow)
      if (clock.now().getTime() - lastAct >= terminalIdleSeconds * 1000) throw new TerminalOver(closings.idle)
      of.look()
    }
  }

  async function carry(): Promise<void> {
    const refused = await far.open()
    if (refused) return end(refused)
    try {
      signal.throwIfAborted()
      await Promise.all([carryIn(), carryOut(), watch()])
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof TerminalOver) return end(error.closing)
      log.error({ err: error, agent: of.agent.name }, 'a terminal could not be carried on')
      end(closings.failed)
    } finally {
      await far.close()
    }
  }

  const done = carry().catch((error: unknown) => {
    log.error({ err: error, agent: of.agent.name }, 'a terminal could not be opened')
    end(closings.failed)
  })
  return { end, done }
}
