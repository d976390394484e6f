import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

/** Room for a conversation with many pictures; a broker never sends more than a provider takes (32 MB). */
const LARGEST_BODY_BYTES = 64 * 1024 * 1024

/** The body of a request, unpacked; `too_large` when it passes 64 MB, `unreadable` when its packing is broken. */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too_large' | 'unreadable'> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // What is left is read and dropped: an answer before the end of an upload would reach few clients.
    if (size <= LARGEST_BODY_BYTES) chunks.push(chunk)
  }
  if (size > LARGEST_BODY_BYTES) return 'too_large'
  const unpack = UNPACKERS.get(request.headers['content-encoding']?.toLowerCase() ?? 'identity')
  if (!unpack) return 'unreadable'
  return unpack(Buffer.concat(chunks)).catch(() => 'unreadable' as const)
}

const options = { maxOutputLength: LARGEST_BODY_BYTES }

const UNPACKERS: ReadonlyMap<string, (packed: Buffer) => Promise<Buffer>> = new Map([
  ['identity', async (packed: Buffer) => packed],
  ['gzip', (packed: Buffer) => promisify(gunzip)(packed, options)],
  ['deflate', (packed: Buffer) => promisify(inflate)(packed, options)],
  ['br', (packed: Buffer) => promisify(brotliDecompress)(packed, options)],
  ['zstd', (packed: Buffer) => promisify(zstdDecompress)(packed, options)],
])
