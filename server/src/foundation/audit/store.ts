import { type InsertResult, sql } from 'kysely'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import type { ChainEnd } from './rules.ts'
import type { AuditRow, AuditTables } from './tables.ts'

export function auditStore(on: Executor) {
  const db = on.withTables<AuditTables>()
  return {
    /** Only inside a transaction: until its end nobody else gets the end of the chain. */
    lockEnd(): Promise<ChainEnd> {
      return db
        .updateTable('audit_head')
        .set({ last_id: sql<number>`last_id` })
        .where('id', '=', 1)
        .returning(['last_id', 'last_hash'])
        .executeTakeFirstOrThrow()
    },

    /** The statements are sent at once. */
    async append(rows: AuditRow[]): Promise<void> {
      const last = rows.at(-1)
      if (!last) return
      const insertion: RowStatement<AuditRow, InsertResult> = {
        name: 'audit.append',
        rows: rowsOfInsert,
        make: (some) => db.insertInto('audit_log').values([...some]),
      }
      const head = db.updateTable('audit_head').set({ last_id: last.id, last_hash: last.entry_hash })
      await Promise.all([on.manyRows(insertion, rows), head.where('id', '=', 1).execute()])
    },

    /**
     * The database refuses every other removal. Ends before the first entry that is to stay, so that the rest
     * is one chain whatever the clocks of several processes said. Only inside a transaction.
     */
    async sweep(before: string): Promise<number> {
      const staying = await db
        .selectFrom('audit_log')
        .select('id')
        .where('timestamp', '>=', before)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      const last = await db
        .selectFrom('audit_log')
        .select(['id', 'entry_hash'])
        .where('id', '<', staying?.id ?? Number.MAX_SAFE_INTEGER)
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

/** Few lengths are few statements, and those are prepared. */
const rowsOfInsert = 25
