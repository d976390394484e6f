import { type InsertResult, sql } from 'kysely'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import type { ChainEnd } from './rules.ts'
import type { AuditRow, AuditTables } from './tables.ts'

export function auditStore(on: Executor) {
  const db = on.withTables<AuditTables>()
  return {
    /** Needs a transaction, which then has the end of the chain for itself. */
    lockEnd(): Promise<ChainEnd> {
      return db
        .updateTable('audit_head')
        .set({ last_id: sql<number>`last_id` })
        .where('id', '=', 1)
        .returning(['last_id', 'last_hash'])
        .executeTakeFirstOrThrow()
    },

    /** Those of these events that have an entry. */
    async storedOf(eventIds: readonly string[]): Promise<Set<string>> {
      const rows = await db
        .selectFrom('audit_log')
        .select('event_id')
        .where('event_id', 'in', eventIds)
        .execute()
      return new Set(rows.map(({ event_id }) => event_id))
    },

    /** Sends the statements without waiting for each other. */
    async append(rows: AuditRow[]): Promise<void> {
      const last = rows.at(-1)
      if (!last) return
      const insertion: RowStatement<AuditRow, InsertResult> = {
        name: 'audit.append',
        rows: rowsPerInsert,
        make: (some) => db.insertInto('audit_log').values([...some]),
      }
      const head = db.updateTable('audit_head').set({ last_id: last.id, last_hash: last.entry_hash })
      await Promise.all([on.manyRows(insertion, rows), head.where('id', '=', 1).execute()])
    },

    /**
     * The only removal that the database allows. Stops before the first entry to keep, so the rest is one chain even
     * if the clocks of processes differ. Needs a transaction.
     */
    async sweep(before: string): Promise<number> {
      const firstKept = await db
        .selectFrom('audit_log')
        .select('id')
        .where('timestamp', '>=', before)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      const last = await db
        .selectFrom('audit_log')
        .select(['id', 'entry_hash'])
        .where('id', '<', firstKept?.id ?? Number.MAX_SAFE_INTEGER)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!last) return 0
      const guard = db.updateTable('audit_guard').where('id', '=', 1)
      await guard.set({ sweep_before: before }).execute()
      const removed = await db.deleteFrom('audit_log').where('id', '<=', last.id).executeTakeFirst()
      await guard.set({ sweep_before: null, swept_id: last.id, swept_hash: last.entry_hash }).execute()
      return Number(removed.numDeletedRows)
    },
  }
}

/** A fixed length keeps the number of prepared statements small. */
const rowsPerInsert = 25
