import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * A run is changed three times before it has ended, and each change is paid by every index that it touches. What
 * is looked up of runs on their way is in one index, which forgets them when they end; a renewed lease and the word
 * that a runtime was spawned touch none.
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
    // Most tasks belong to no conversation.
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
