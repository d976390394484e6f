import { type ExecReadAnswer, terminalChunkBytes } from '@roost/contracts/link/exec'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Pty } from './pty.ts'

/** A terminal as the platform asks of it: in pieces with offsets, so that an answer that was lost is asked for again. */
export type Terminal = {
  /** All input taken so far, in bytes. Waits up to `waitMs` while the program reads nothing. */
  write(offset: number, bytes: Buffer, waitMs: number): Promise<number>
  /** The next output; empty when none comes within `waitMs`. */
  read(offset: number, waitMs: number): Promise<ExecReadAnswer>
}

export function createTerminal(pty: Pty, clock: Pick<Clock, 'after'>): Terminal {
  const { input, output } = pty
  let taken = 0
  /** What was answered last, and where it begins. */
  let piece: Buffer = Buffer.alloc(0)
  let begin = 0
  let ended: { exit_code: number } | null = null
  let changed = Promise.withResolvers<void>()

  output.on('readable', tell)
  output.on('end', tell)
  input.on('drain', tell)
  void pty.exited.then((exit_code) => {
    ended = { exit_code }
    tell()
  })

  function tell(): void {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  /** Looks again with each change until `look` finds something, at most that long; null: it did not. */
  async function within<T>(waitMs: number, look: () => T | null): Promise<T | null> {
    let isLate = false
    const cancel = clock.after(waitMs, () => {
      isLate = true
      tell()
    })
    for (;;) {
      const found = look()
      if (found !== null || isLate) {
        cancel()
        return found
      }
      await changed.promise
    }
  }

  /** Null: there is nothing to tell yet. */
  function next(offset: number): ExecReadAnswer | null {
    const end = begin + piece.length
    if (offset !== begin && offset !== end) throw new LinkFault('invalid_message', 'That output is gone.')
    // The answer before this one was lost on its way.
    if (offset === begin && piece.length > 0) return answer(null)
    const read: Buffer | null = output.read(Math.min(output.readableLength, terminalChunkBytes) || undefined)
    if (read === null) return ended && answer(ended, Buffer.alloc(0))
    begin = offset
    piece = read
    return answer(null)
  }

  function answer(end: ExecReadAnswer['ended'], bytes = piece): ExecReadAnswer {
    return { data_base64: bytes.toString('base64'), ended: end }
  }

  return {
    async write(offset, bytes, waitMs) {
      await within(waitMs, () => (input.writableNeedDrain && ended === null ? null : true))
      if (offset > taken) throw new LinkFault('invalid_message', 'There is input missing before this.')
      const rest = bytes.subarray(taken - offset)
      if (rest.length === 0 || input.writableNeedDrain) return taken
      taken += rest.length
      if (input.writable) input.write(rest)
      return taken
    },
    async read(offset, waitMs) {
      return (await within(waitMs, () => next(offset))) ?? { data_base64: '', ended: null }
    },
  }
}
