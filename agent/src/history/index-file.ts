import { readFile } from 'node:fs/promises'
import { isObject, textAt } from '../kit/json.ts'
import { replaceFile } from './durable.ts'
import type { Listing } from './listing.ts'

/** What the platform has of this workspace: the listing of a record. */
export type Index = { record: string; listing: Listing }

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
  return { record, listing }
}

export function writeIndex(file: string, { record, listing }: Index): Promise<void> {
  return replaceFile(file, [`${JSON.stringify({ record, bytes: listing.length })}\0`, listing])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
