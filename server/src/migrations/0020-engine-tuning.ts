import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * A run is updated three times before its end, and each update costs time in every affected index. One partial
 * index covers the lookups of active runs. Renewed leases and started runtimes affect no index.
 */
export const engineTuning: Migration = {
  name: '0020-engine-tuning',
  async up(db, schema) {
    await db.schema
      .createIndex('executions_open')
      .ifNotExists()
      .on('executions')
      .columns(['agent_id', 'status', 'queued_at', 'queue_number'])
      .where(sql.ref('completed_at'), 'is', null)
      .execute()
    for (const name of ['executions_queue', 'executions_lease', 'executions_waiting', 'executions_session']) {
      await db.schema.dropIndex(name).ifExists().execute()
    }
    // Partial: most tasks belong to no conversation.
    await db.schema
      .createIndex('executions_session')
      .ifNotExists()
      .on('executions')
      .columns(['session_id', 'status'])
      .where(sql.ref('session_id'), 'is not', null)
      .execute()
    await schema.keepRoom('executions', 30)
  },
}
