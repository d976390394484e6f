import { readFile } from 'node:fs/promises'
import { isObject, textAt } from '../kit/json.ts'
import { replaceFile } from './durable.ts'
import type { Listing } from './listing.ts'

/** What the platform has of this workspace: the listing of a record. `hiddenBytes`: length of its hidden part. */
export type Index = { record: string; listing: Listing; hiddenBytes: number }

/** Returns null for a missing or damaged file; then everything is recorded again. */
export async function readIndex(file: string): Promise<Index | null> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  const end = bytes?.indexOf(0) ?? -1
  if (!bytes || end === -1) return null
  const header = parse(bytes.toString('utf8', 0, end))
  const record = isObject(header) ? textAt(header, 'record') : null
  const listing = bytes.subarray(end + 1)
  if (!record || !isObject(header) || header.bytes !== listing.length) return null
  // Indexes of earlier releases are not in parts.
  const hiddenBytes = typeof header.hidden_bytes === 'number' ? header.hidden_bytes : 0
  return { record, listing, hiddenBytes }
}

export function writeIndex(file: string, { record, listing, hiddenBytes }: Index): Promise<void> {
  const header = { record, bytes: listing.length, hidden_bytes: hiddenBytes }
  return replaceFile(file, [`${JSON.stringify(header)}\0`, listing])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
