import type { IncomingMessage } from 'node:http'
import type { Provider } from './provider-rules.ts'

/** Larger bodies are not read as credential errors. */
const maxRefusalBytes = 64 * 1024

/**
 * Reads the body of a response whose status alone does not show whether the credential failed. Returns it
 * with all chunks for forwarding. For other responses `body` is null and the chunks pass unread.
 */
export async function readRefusal(
  reply: IncomingMessage,
  provider: Provider,
): Promise<{ body: string | null; pieces: AsyncIterable<Buffer> }> {
  // Google reports a bad key as a bad request, and the duration of a limit in the body.
  if (provider !== 'google' || ![400, 429].includes(reply.statusCode ?? 0))
    return { body: null, pieces: reply }
  const source = reply[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let size = 0
  while (size <= maxRefusalBytes) {
    const { value, done } = await source.next()
    if (done) return { body: Buffer.concat(read).toString(), pieces: replay(read, null) }
    read.push(value)
    size += value.length
  }
  return { body: null, pieces: replay(read, source) }
}

async function* replay(read: readonly Buffer[], rest: AsyncIterator<Buffer> | null): AsyncGenerator<Buffer> {
  yield* read
  if (rest) yield* { [Symbol.asyncIterator]: () => rest }
}
