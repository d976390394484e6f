import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Every filter of the audit log has an index that ends with the order in which entries are listed. */
export const auditReads: Migration = {
  name: '0013-audit-reads',
  async up(db) {
    for (const column of filters) {
      await db.schema
        .createIndex(`audit_log_by_${column}`)
        .ifNotExists()
        .on('audit_log')
        .columns([column, 'id'])
        .execute()
    }
    // Covers the queries for figures.
    await db.schema
      .createIndex('audit_log_figures')
      .ifNotExists()
      .on('audit_log')
      .columns(['timestamp', 'event_type', 'actor_type', 'source'])
      .execute()
    for (const name of ['audit_log_timestamp', 'audit_log_target', 'audit_log_actor'])
      await db.schema.dropIndex(name).ifExists().execute()

    // The point where the sweep cut the chain. Without it a deletion of the first entries would be undetectable.
    await db.schema
      .alterTable('audit_guard')
      .addColumn('swept_id', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('audit_guard').addColumn('swept_hash', 'text').execute()
    await sql`update audit_guard set
      swept_id = coalesce((select min(id) - 1 from audit_log), (select last_id from audit_head)),
      swept_hash = case when exists (select 1 from audit_log)
        then (select previous_hash from audit_log order by id limit 1)
        else (select last_hash from audit_head) end`.execute(db)
  },
}

const filters = [
  'event_type',
  'actor_type',
  'actor_id',
  'target_type',
  'target_id',
  'source',
  'request_id',
  'mcp_key_id',
  'mcp_scope',
] as const
