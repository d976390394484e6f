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

/** The terminals of this container. Abandoned ones are ended, and none outlives this program. */
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

type OpenTerminal = { pty: Pty; terminal: Terminal; requests: number; cancelEnd(): void }

/** Time for a shell to write its history. */
const graceMs = 1000
/** Well below the platform's answer timeout. */
const inputWaitMs = 10_000
const never = new Promise<never>(() => {})

export function createTerminals({ home, identities, clock, environment }: TerminalsDeps): Terminals {
  const terminals = new Map<string, OpenTerminal>()
  let opening = 0
  let isClosing = false

  async function start(id: string, size: Size): Promise<Pty | null> {
    const env = await environment({ TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' })
    const command = [env.SHELL ?? '/bin/bash']
    return startPty({ command, size, env, cwd: home, marker: `terminal-${id}` }, identities)
  }

  /** Runs a request and keeps the terminal from being abandoned meanwhile. */
  async function ask<T>(id: string, work: (terminals: OpenTerminal) => Promise<T>): Promise<T> {
    const found = terminals.get(id)
    if (!found) throw new LinkFault('file_not_found', 'The terminal does not exist.')
    found.cancelEnd()
    found.requests += 1
    try {
      const answer = await work(found)
      // The agent is stopping: the closing link reports that, not an answer.
      return isClosing ? await never : answer
    } finally {
      found.requests -= 1
      if (found.requests === 0) endWhenAbandoned(id, found)
    }
  }

  function endWhenAbandoned(id: string, found: OpenTerminal): void {
    found.cancelEnd()
    if (terminals.get(id) === found)
      found.cancelEnd = clock.after(terminalAbandonedSeconds * 1000, () => void close(id))
  }

  async function close(id: string): Promise<OkAnswer> {
    const found = terminals.get(id)
    terminals.delete(id)
    found?.cancelEnd()
    await found?.pty.stop(graceMs)
    return { ok: true }
  }

  return {
    async open(id, size) {
      if (terminals.has(id)) return { outcome: 'opened' }
      if (terminals.size + opening >= maxTerminals) return { outcome: 'too_many' }
      opening += 1
      try {
        const pty = await start(id, size)
        if (!pty) return { outcome: 'unavailable' }
        const opened: OpenTerminal = {
          pty,
          terminal: createTerminal(pty, clock),
          requests: 0,
          cancelEnd: () => {},
        }
        terminals.set(id, opened)
        endWhenAbandoned(id, opened)
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
      await Promise.all([...terminals.keys()].map(close))
    },
  }
}
