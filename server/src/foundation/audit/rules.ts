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

/**
 * The first of `rows`, in the order of their ids, that is not what was written or does not follow the one
 * before it; null when all do. The first row's own predecessor may have been swept away.
 */
export function firstBroken(rows: AuditRow[]): AuditRow | null {
  return (
    rows.find((row, index) => {
      const before = rows[index - 1]
      const follows = !before || (row.previous_hash === before.entry_hash && row.id === before.id + 1)
      return !follows || hashOf(row) !== row.entry_hash
    }) ?? null
  )
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
