import {
  type ExecDataAnswer,
  type ExecOpenAnswer,
  type ExecReadAnswer,
  maxTerminals,
  terminalAbandonedSeconds,
  terminalWaitSeconds,
} from '@roost/contracts/link/exec'
import type { OkAnswer } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { type Pty, type Size, startPty } from './pty.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** The terminals of this container. One that the platform forgets is ended; none outlives the program. */
export type Terminals = {
  open(id: string, size: Size): Promise<ExecOpenAnswer>
  write(id: string, offset: number, bytes: Buffer): Promise<ExecDataAnswer>
  read(id: string, offset: number): Promise<ExecReadAnswer>
  resize(id: string, size: Size): Promise<OkAnswer>
  close(id: string): Promise<OkAnswer>
  closeAll(): Promise<void>
}

export type TerminalsDeps = {
  home: string
  identities: Identities
  clock: Pick<Clock, 'after'>
  environment(over: Record<string, string>): Promise<Environment>
}

type Held = { pty: Pty; terminal: Terminal; asked: number; cancelEnd(): void }

/** What a shell gets to write its history down. */
const graceMs = 1000
/** Well below the time in which the platform wants an answer. */
const inputWaitMs = 10_000
const never = new Promise<never>(() => {})

export function createTerminals({ home, identities, clock, environment }: TerminalsDeps): Terminals {
  const held = new Map<string, Held>()
  let opening = 0
  let isClosing = false

  async function start(id: string, size: Size): Promise<Pty | null> {
    const env = await environment({ TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' })
    const command = [env.SHELL ?? '/bin/bash']
    return startPty({ command, size, env, cwd: home, marker: `terminal-${id}` }, identities)
  }

  /** Keeps the terminal as long as it is asked about. */
  async function ask<T>(id: string, work: (held: Held) => Promise<T>): Promise<T> {
    const found = held.get(id)
    if (!found) throw new LinkFault('file_not_found', 'There is no such terminal.')
    found.cancelEnd()
    found.asked += 1
    try {
      const answer = await work(found)
      // The shell ends because the agent does: the link, which ends behind it, says so.
      return isClosing ? await never : answer
    } finally {
      found.asked -= 1
      if (found.asked === 0) endUnlessAsked(id, found)
    }
  }

  function endUnlessAsked(id: string, found: Held): void {
    found.cancelEnd()
    if (held.get(id) === found)
      found.cancelEnd = clock.after(terminalAbandonedSeconds * 1000, () => void close(id))
  }

  async function close(id: string): Promise<OkAnswer> {
    const found = held.get(id)
    held.delete(id)
    found?.cancelEnd()
    await found?.pty.stop(graceMs)
    return { ok: true }
  }

  return {
    async open(id, size) {
      if (held.has(id)) return { outcome: 'opened' }
      if (held.size + opening >= maxTerminals) return { outcome: 'too_many' }
      opening += 1
      try {
        const pty = await start(id, size)
        if (!pty) return { outcome: 'unavailable' }
        const made: Held = { pty, terminal: createTerminal(pty, clock), asked: 0, cancelEnd: () => {} }
        held.set(id, made)
        endUnlessAsked(id, made)
        return { outcome: 'opened' }
      } finally {
        opening -= 1
      }
    },
    write: (id, offset, bytes) =>
      ask(id, async ({ terminal }) => ({ taken: await terminal.write(offset, bytes, inputWaitMs) })),
    read: (id, offset) => ask(id, ({ terminal }) => terminal.read(offset, terminalWaitSeconds * 1000)),
    resize: (id, size) =>
      ask(id, async ({ pty }) => {
        pty.resize(size)
        return { ok: true }
      }),
    close,
    async closeAll() {
      isClosing = true
      await Promise.all([...held.keys()].map(close))
    },
  }
}
