import { createHash } from 'node:crypto'
import type { AuditRow } from './tables.ts'

/** An entry before it has a place in the chain. */
export type Unchained = Omit<AuditRow, 'id' | 'previous_hash' | 'entry_hash'>
export type ChainEnd = { last_id: number; last_hash: string | null }

/** The entries with their places in the chain, after `end`. */
export function chain(entries: Unchained[], end: ChainEnd): AuditRow[] {
  let previous = end.last_hash
  return entries.map((entry, index) => {
    const unsigned = { ...entry, id: end.last_id + index + 1, previous_hash: previous }
    const row = { ...unsigned, entry_hash: hashOf(unsigned) }
    previous = row.entry_hash
    return row
  })
}

/** SHA-256 of everything an entry says, its number and the hash of the entry before it. */
export function hashOf(row: Omit<AuditRow, 'entry_hash'>): string {
  const said = hashed.map((column) => row[column])
  return createHash('sha256').update(JSON.stringify(said)).digest('hex')
}

/** What the next entry follows; number 0 and hash null before the very first. Undefined: it is gone. */
export type Link = { id: number; entry_hash: string | null | undefined }

/**
 * The number of the first entry behind `before` that is missing, not what was written, or does not follow
 * the one before it; null when `rows`, in the order of their numbers, are whole.
 */
export function firstInvalid(rows: readonly AuditRow[], before: Link): number | null {
  let previous = before
  for (const row of rows) {
    if (row.id !== previous.id + 1) return previous.id + 1
    const isNext = previous.entry_hash === undefined || previous.entry_hash === row.previous_hash
    if (!isNext || hashOf(row) !== row.entry_hash) return row.id
    previous = row
  }
  return null
}

/** A fixed order: an object's own would change with the code that makes it. */
const hashed = [
  'id',
  'previous_hash',
  'event_id',
  'timestamp',
  'event_type',
  'event_action',
  'actor_type',
  'actor_id',
  'actor_email',
  'actor_ip',
  'mcp_key_id',
  'mcp_key_name',
  'mcp_scope',
  'target_type',
  'target_id',
  'details',
  'request_id',
  'source',
  'endpoint',
  'status',
] as const satisfies (keyof AuditRow)[]
