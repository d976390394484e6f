import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

/** Large enough for many images; a broker sends at most what a provider accepts (32 MB). */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/** Returns the decompressed body. `too_large` above 64 MB, `unreadable` when decompression fails. */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too_large' | 'unreadable'> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // Reads the rest without storing it: few clients read an answer before their upload has ended.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (size > MAX_BODY_BYTES) return 'too_large'
  const unpack = UNPACKERS.get(request.headers['content-encoding']?.toLowerCase() ?? 'identity')
  if (!unpack) return 'unreadable'
  return unpack(Buffer.concat(chunks)).catch(() => 'unreadable' as const)
}

const options = { maxOutputLength: MAX_BODY_BYTES }

const UNPACKERS: ReadonlyMap<string, (packed: Buffer) => Promise<Buffer>> = new Map([
  ['identity', async (packed: Buffer) => packed],
  ['gzip', (packed: Buffer) => promisify(gunzip)(packed, options)],
  ['deflate', (packed: Buffer) => promisify(inflate)(packed, options)],
  ['br', (packed: Buffer) => promisify(brotliDecompress)(packed, options)],
  ['zstd', (packed: Buffer) => promisify(zstdDecompress)(packed, options)],
])
