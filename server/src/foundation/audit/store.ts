import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
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

    async append(rows: AuditRow[]): Promise<void> {
      const last = rows.at(-1)
      if (!last) return
      await db.insertInto('audit_log').values(rows).execute()
      await db
        .updateTable('audit_head')
        .set({ last_id: last.id, last_hash: last.entry_hash })
        .where('id', '=', 1)
        .execute()
    },

    range(fromId: number, limit: number): Promise<AuditRow[]> {
      return db
        .selectFrom('audit_log')
        .selectAll()
        .where('id', '>=', fromId)
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** The database refuses every other removal. Only inside a transaction. */
    async sweep(before: string): Promise<number> {
      await db.updateTable('audit_guard').set({ sweep_before: before }).where('id', '=', 1).execute()
      const removed = await db.deleteFrom('audit_log').where('timestamp', '<', before).executeTakeFirst()
      await db.updateTable('audit_guard').set({ sweep_before: null }).where('id', '=', 1).execute()
      return Number(removed.numDeletedRows)
    },
  }
}
