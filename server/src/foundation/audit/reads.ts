import {
  type AuditLogEntry,
  type AuditLogStats,
  type AuditVerification,
  auditFilterValues,
} from '@roost/contracts/foundation/audit'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { type AuditFilter, type AuditWindow, auditReadStore } from './read-store.ts'
import type { Audit } from './service.ts'
import type { AuditRow } from './tables.ts'
import { type VerifyRange, verifyChain } from './verify.ts'

export type AuditReads = {
  /** Newest first, with the number of all matches. Throws `unknown_filter`. */
  list(
    filter: AuditFilter,
    window: AuditWindow,
    page: { limit: number; offset: number },
  ): Promise<{ entries: AuditLogEntry[]; total: number }>
  /** Throws `not_found`. */
  one(eventId: string): Promise<AuditLogEntry>
  stats(window: AuditWindow): Promise<AuditLogStats>
  /** Entries that exist at the first read, oldest first, with one batch in memory at a time. */
  batches(window: AuditWindow): AsyncIterable<AuditLogEntry[]>
  verify(range: VerifyRange, signal?: AbortSignal): Promise<AuditVerification>
}

const batchSize = 500

/** The log for admins. Each read includes everything that this process has recorded before it. */
export function createAuditReads({ db, audit }: { db: Db; audit: Pick<Audit, 'flush'> }): AuditReads {
  const store = auditReadStore(db)
  // Fails open: entries that cannot be written now are logged and written later, and the others stay readable.
  const flushed = () => audit.flush().catch(() => {})

  return {
    async list(filter, window, page) {
      refuseUnknown(filter)
      await flushed()
      const [rows, total] = await Promise.all([store.page(filter, window, page), store.count(filter, window)])
      return { entries: rows.map(entryOf), total }
    },
    async one(eventId) {
      await flushed()
      const row = await store.one(eventId)
      if (!row) throw new Fault('not_found', 'There is no such entry in the audit log.')
      return entryOf(row)
    },
    async stats(window) {
      await flushed()
      const figures = await store.figures(window)
      const sums = (of: (figure: (typeof figures)[number]) => string) => {
        const counts: Record<string, number> = {}
        for (const figure of figures) counts[of(figure)] = (counts[of(figure)] ?? 0) + figure.count
        return counts
      }
      return {
        total: figures.reduce((total, { count }) => total + count, 0),
        by_event_type: sums(({ event_type }) => event_type),
        by_actor_type: sums(({ actor_type }) => actor_type),
        by_source: sums(({ source }) => source),
        by_day: Object.entries(sums(({ day }) => day)).map(([date, count]) => ({ date, count })),
      }
    },
    async *batches(window) {
      await flushed()
      const span = await store.span(window)
      const { start_time = '', end_time = '~' } = window
      for (let first = span?.first ?? 1; first <= (span?.last ?? 0); ) {
        const rows = await store.range(first, span?.last ?? 0, batchSize)
        if (rows.length === 0) return
        // Ids are consecutive, but timestamps are not quite in order: the clocks of processes differ.
        yield rows.filter(({ timestamp }) => timestamp >= start_time && timestamp <= end_time).map(entryOf)
        first = (rows.at(-1)?.id ?? first) + 1
      }
    },
    async verify(range, signal) {
      await flushed()
      return verifyChain(db, range, signal)
    },
  }
}

function refuseUnknown(filter: AuditFilter): void {
  for (const [name, offered] of Object.entries(auditFilterValues)) {
    // All keys of `auditFilterValues` are filters.
    const value = filter[name as keyof typeof auditFilterValues]
    if (value === undefined || (offered as readonly string[]).includes(value)) continue
    throw new Fault('unknown_filter', `${name} must be one of ${offered.join(', ')}.`, {
      filter: name,
      offered,
    })
  }
}

function entryOf(row: AuditRow): AuditLogEntry {
  return {
    // These columns are written from an `AuditEntry`, whose details are an object.
    ...(row as AuditRow & Pick<AuditLogEntry, 'event_type' | 'actor_type' | 'source'>),
    details: JSON.parse(row.details) as Record<string, unknown>,
  }
}
