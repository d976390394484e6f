import type { IncomingMessage } from 'node:http'
import type { Provider } from './provider-rules.ts'

/** An error body above it is no refusal's. */
const longestRefusalBytes = 64 * 1024

/**
 * The body of an answer whose status does not tell alone whether the credential was at fault, and the answer's pieces
 * to go on with, whether they were read or not. Null for every other answer: it passes as it comes.
 */
export async function readRefusal(
  reply: IncomingMessage,
  provider: Provider,
): Promise<{ body: string | null; pieces: AsyncIterable<Buffer> }> {
  // Google calls a bad key a bad request, and says in the body how long a limit lasts.
  if (provider !== 'google' || ![400, 429].includes(reply.statusCode ?? 0))
    return { body: null, pieces: reply }
  const source = reply[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let size = 0
  while (size <= longestRefusalBytes) {
    const { value, done } = await source.next()
    if (done) return { body: Buffer.concat(read).toString(), pieces: again(read, null) }
    read.push(value)
    size += value.length
  }
  return { body: null, pieces: again(read, source) }
}

async function* again(read: readonly Buffer[], rest: AsyncIterator<Buffer> | null): AsyncGenerator<Buffer> {
  yield* read
  if (rest) yield* { [Symbol.asyncIterator]: () => rest }
}
