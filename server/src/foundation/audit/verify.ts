import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { AuditVerification } from '@roost/contracts/foundation/audit'
import type { Db } from '../../ports/database/port.ts'
import { auditReadStore } from './read-store.ts'
import { firstInvalid, type Link } from './rules.ts'

export type VerifyRange = { start_id?: number | undefined; end_id?: number | undefined }

const batchSize = 500

/**
 * Reads a range of the chain up to its end or its first invalid entry. Starts again when a sweep removed entries
 * meanwhile, because these look like a gap.
 */
export async function verifyChain(
  db: Db,
  range: VerifyRange,
  signal?: AbortSignal,
): Promise<AuditVerification> {
  const store = auditReadStore(db)
  for (;;) {
    const bounds = await store.bounds()
    const found = await verifyOnce(db, range, bounds, signal)
    // Terminates, because sweeps are rare.
    if (found.status !== 'tampered' || (await store.bounds()).swept_id === bounds.swept_id) return found
  }
}

type Bounds = Awaited<ReturnType<ReturnType<typeof auditReadStore>['bounds']>>

async function verifyOnce(
  db: Db,
  { start_id, end_id }: VerifyRange,
  bounds: Bounds,
  signal?: AbortSignal,
): Promise<AuditVerification> {
  const store = auditReadStore(db)
  const { swept_id, swept_hash, last_id, last_hash, oldest, newest } = bounds
  const hasInsertedBefore = oldest !== null && oldest <= swept_id && (start_id ?? oldest) <= oldest
  if (hasInsertedBefore) return tampered(0, oldest)
  const hasInsertedAfter = newest !== null && newest > last_id && (end_id ?? newest) > last_id
  const first = Math.max(start_id ?? 1, swept_id + 1)
  const last = Math.min(end_id ?? last_id, last_id)

  let before: Link = {
    id: first - 1,
    entry_hash: first === swept_id + 1 ? swept_hash : await store.hashOf(first - 1),
  }
  let checked = 0
  while (before.id < last) {
    signal?.throwIfAborted()
    const rows = await store.range(before.id + 1, last, batchSize)
    checked += rows.length
    const invalid = firstInvalid(rows, before)
    if (invalid !== null) return tampered(checked, invalid)
    const end = rows.at(-1)
    if (!end) return tampered(checked, before.id + 1)
    before = end
    // SQLite reads are synchronous; without this, other requests would wait until the end.
    await yieldToOthers()
  }
  if (checked > 0 && last === last_id && before.entry_hash !== last_hash) return tampered(checked, last)
  if (hasInsertedAfter) return tampered(checked, Math.max(first, last_id + 1))
  return checked === 0
    ? { valid: null, status: 'empty_range', checked }
    : { valid: true, status: 'verified', checked }
}

function tampered(checked: number, first_invalid_id: number): AuditVerification {
  return { valid: false, status: 'tampered', checked, first_invalid_id }
}
