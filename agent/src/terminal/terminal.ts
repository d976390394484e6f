import { type ExecReadAnswer, terminalChunkBytes } from '@roost/contracts/link/exec'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Pty } from './pty.ts'

/** A terminal with offset-based reads and writes, so that requests with lost answers can be repeated. */
export type Terminal = {
  /** Returns the total bytes accepted. Waits up to `waitMs` while the program reads nothing. */
  write(offset: number, bytes: Buffer, waitMs: number): Promise<number>
  /** Returns the next output; empty when none arrives within `waitMs`. */
  read(offset: number, waitMs: number): Promise<ExecReadAnswer>
}

export function createTerminal(pty: Pty, clock: Pick<Clock, 'after'>): Terminal {
  const { input, output } = pty
  let accepted = 0
  /** The last answered chunk and its offset. */
  let chunk: Buffer = Buffer.alloc(0)
  let chunkOffset = 0
  let ended: { exit_code: number } | null = null
  let changed = Promise.withResolvers<void>()

  output.on('readable', notify)
  output.on('end', notify)
  input.on('drain', notify)
  void pty.exited.then((exit_code) => {
    ended = { exit_code }
    notify()
  })

  function notify(): void {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  /** Calls `look` after each change until it returns a value. Null after `waitMs`. */
  async function waitUntil<T>(waitMs: number, check: () => T | null): Promise<T | null> {
    let isLate = false
    const cancel = clock.after(waitMs, () => {
      isLate = true
      notify()
    })
    for (;;) {
      const found = check()
      if (found !== null || isLate) {
        cancel()
        return found
      }
      await changed.promise
    }
  }

  /** Returns null when there is nothing new. */
  function next(offset: number): ExecReadAnswer | null {
    const end = chunkOffset + chunk.length
    if (offset !== chunkOffset && offset !== end)
      throw new LinkFault('invalid_message', 'That output is no longer available.')
    // The previous answer was lost, so it is repeated.
    if (offset === chunkOffset && chunk.length > 0) return answer(null)
    const read: Buffer | null = output.read(Math.min(output.readableLength, terminalChunkBytes) || undefined)
    if (read === null) return ended && answer(ended, Buffer.alloc(0))
    chunkOffset = offset
    chunk = read
    return answer(null)
  }

  function answer(end: ExecReadAnswer['ended'], bytes = chunk): ExecReadAnswer {
    return { data_base64: bytes.toString('base64'), ended: end }
  }

  return {
    async write(offset, bytes, waitMs) {
      await waitUntil(waitMs, () => (input.writableNeedDrain && ended === null ? null : true))
      if (offset > accepted) throw new LinkFault('invalid_message', 'Input before this offset is missing.')
      const rest = bytes.subarray(accepted - offset)
      if (rest.length === 0 || input.writableNeedDrain) return accepted
      accepted += rest.length
      if (input.writable) input.write(rest)
      return accepted
    },
    async read(offset, waitMs) {
      return (await waitUntil(waitMs, () => next(offset))) ?? { data_base64: '', ended: null }
    },
  }
}
