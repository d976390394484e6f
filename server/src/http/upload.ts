import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault } from '../kit/fault.ts'

/** Connections whose current request may take longer than all others, because its body is a stream. */
const uploading = new WeakSet<Duplex>()

/** Time without a byte after which an upload ends. Waiting for the handler does not count. */
const idleMs = 60_000
/** After an error this much of the rest is read, so that the client receives the response. */
const maxDiscardedBytes = 64 * 1024 * 1024

/** True for a connection that Node's limit for a whole request does not apply to. */
export function isUploading(socket: Duplex): boolean {
  return uploading.has(socket)
}

/**
 * Yields a body as it arrives, one piece for each request of the consumer. Throws `request_timeout` when the client
 * stops sending. Memory is bounded by the buffer of the connection.
 */
export async function* uploadOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  uploading.add(request.socket)
  const pieces = request[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await beforeTimeout(pieces.next())
      if (next.done) return
      yield next.value
    }
  } finally {
    uploading.delete(request.socket)
  }
}

async function beforeTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Fault('request_timeout')), idleMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Reads and discards the rest of a body whose handler failed. A longer rest ends the connection. */
export function discardUpload(request: IncomingMessage): void {
  let left = maxDiscardedBytes
  // Those of the unfinished iterator keep the body from flowing.
  request.removeAllListeners('readable')
  request.on('data', (piece: Buffer) => {
    left -= piece.length
    if (left < 0) request.destroy()
  })
  request.on('error', () => {})
  request.resume()
}
