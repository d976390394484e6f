import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kit/clock.ts'
import type { Closing, FromClient } from './rules.ts'
import { readFrame } from './rules.ts'

/** The person's side of a terminal. */
export type ClientSocket = {
  /** Resolves when the network has accepted the bytes or `signal` aborts; false after a timeout. */
  send(bytes: Buffer, signal: AbortSignal): Promise<boolean>
  /** Pauses reading while `isFull`. */
  hold(isFull: boolean): void
  /** Sends a ping; false if the last two were unanswered. */
  ping(): boolean
  close(closing: Closing): void
}

const sendTimeoutMs = 30_000
const maxUnansweredPings = 2
/** Time to wait for the other side's close frame. */
const closeTimeoutMs = 2_000

export function createClientSocket(
  socket: WebSocket,
  { clock, on }: { clock: Clock; on: { frame(frame: FromClient): void; closed(): void } },
): ClientSocket {
  let unanswered = 0
  const closed = new AbortController()

  socket.on('message', (data, isBinary) => {
    unanswered = 0
    on.frame(readFrame(bytesOf(data), isBinary))
  })
  socket.on('pong', () => {
    unanswered = 0
  })
  // Errors are followed by `close`.
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    closed.abort()
    on.closed()
  })

  return {
    async send(bytes, signal) {
      const sent = new AbortController()
      socket.send(bytes, () => sent.abort())
      const until = AbortSignal.any([sent.signal, signal])
      await clock.wait(sendTimeoutMs, until)
      return until.aborted
    },
    hold(isFull) {
      if (isFull) socket.pause()
      else socket.resume()
    },
    ping() {
      unanswered += 1
      if (socket.readyState === socket.OPEN) socket.ping()
      return unanswered <= maxUnansweredPings
    },
    close({ close, reason }) {
      // Resume reading, or the close frame would not arrive.
      socket.resume()
      socket.close(close, reason)
      void clock.wait(closeTimeoutMs, closed.signal).then(() => socket.terminate())
    },
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
