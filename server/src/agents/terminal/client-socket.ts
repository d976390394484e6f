import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import type { Closing, FromClient } from './rules.ts'
import { readFrame } from './rules.ts'

/** The person's side of a terminal. */
export type ClientSocket = {
  /** Resolves when the network has taken it, or `signal` aborts; false: it did not for too long. */
  send(bytes: Buffer, signal: AbortSignal): Promise<boolean>
  /** Reads no further while `isFull`. */
  hold(isFull: boolean): void
  /** Asks for a sign of life; false: there was none to the last two. */
  ping(): boolean
  close(closing: Closing): void
}

const patienceMs = 30_000
const unansweredMost = 2
/** For a goodbye that does not come. */
const closeMs = 2_000

export function createClientSocket(
  socket: WebSocket,
  { clock, on }: { clock: Clock; on: { frame(frame: FromClient): void; closed(): void } },
): ClientSocket {
  let unanswered = 0
  const gone = new AbortController()

  socket.on('message', (data, isBinary) => {
    unanswered = 0
    on.frame(readFrame(bytesOf(data), isBinary))
  })
  socket.on('pong', () => {
    unanswered = 0
  })
  // What is wrong with it is followed by its end.
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    gone.abort()
    on.closed()
  })

  return {
    async send(bytes, signal) {
      const taken = new AbortController()
      socket.send(bytes, () => taken.abort())
      const until = AbortSignal.any([taken.signal, signal])
      await clock.wait(patienceMs, until)
      return until.aborted
    },
    hold(isFull) {
      if (isFull) socket.pause()
      else socket.resume()
    },
    ping() {
      unanswered += 1
      if (socket.readyState === socket.OPEN) socket.ping()
      return unanswered <= unansweredMost
    },
    close({ close, reason }) {
      // A goodbye is read, too.
      socket.resume()
      socket.close(close, reason)
      void clock.wait(closeMs, gone.signal).then(() => socket.terminate())
    },
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
