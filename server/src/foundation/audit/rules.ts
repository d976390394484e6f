import { createHash } from 'node:crypto'
import type { AuditRow } from './tables.ts'

/** An entry without its position in the chain. */
export type Unchained = Omit<AuditRow, 'id' | 'previous_hash' | 'entry_hash'>
export type ChainEnd = { last_id: number; last_hash: string | null }

/** Appends entries to the chain after `end`. */
export function chain(entries: Unchained[], end: ChainEnd): AuditRow[] {
  let previous = end.last_hash
  return entries.map((entry, index) => {
    const unsigned = { ...entry, id: end.last_id + index + 1, previous_hash: previous }
    const row = { ...unsigned, entry_hash: hashOf(unsigned) }
    previous = row.entry_hash
    return row
  })
}

/** SHA-256 of all columns, including the id and the previous hash. */
export function hashOf(row: Omit<AuditRow, 'entry_hash'>): string {
  const values = hashedColumns.map((column) => row[column])
  return createHash('sha256').update(JSON.stringify(values)).digest('hex')
}

/** The entry before the next one. Id 0 and hash null before the first; an undefined hash: the entry is missing. */
export type Link = { id: number; entry_hash: string | null | undefined }

/**
 * Returns the id of the first entry after `before` that is missing, changed, or does not continue the chain. Null when
 * `rows`, ordered by id, are valid.
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

/** A fixed order, because the key order of an object depends on the code that builds it. */
const hashedColumns = [
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
