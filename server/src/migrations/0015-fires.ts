import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** The outcome of each due time of a schedule, and the status of the scheduler. */
export const fires: Migration = {
  name: '0015-fires',
  async up(db) {
    // The key decides races: one scheduler inserts a due time, before anything is sent.
    await db.schema
      .createTable('fires')
      .ifNotExists()
      .addColumn('schedule_id', 'text', (c) => c.notNull())
      .addColumn('due_at', 'text', (c) => c.notNull())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('is_catch_up', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('outcome', 'text')
      .addColumn('reason', 'text')
      .addColumn('execution_id', 'text')
      .addColumn('recorded_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('fires_pk', ['schedule_id', 'due_at'])
      .execute()
    await db.schema.createIndex('fires_agent').ifNotExists().on('fires').column('agent_id').execute()
    await db.schema.createIndex('fires_recorded').ifNotExists().on('fires').column('recorded_at').execute()
    // Partial: claimed and undecided fires are few.
    await db.schema
      .createIndex('fires_open')
      .ifNotExists()
      .on('fires')
      .column('due_at')
      .where(sql.ref('outcome'), 'is', null)
      .execute()

    await db.schema
      .createTable('scheduler_state')
      .ifNotExists()
      .addColumn('id', 'integer', (c) => c.primaryKey())
      .addColumn('leader', 'text', (c) => c.notNull())
      .addColumn('leads_since', 'text', (c) => c.notNull())
      .addColumn('jobs_count', 'integer', (c) => c.notNull())
      .addColumn('next_due_at', 'text')
      .addColumn('checked_at', 'text', (c) => c.notNull())
      .execute()

    // Partial: pending retries and pending validations are few.
    await db.schema
      .createIndex('executions_retries')
      .ifNotExists()
      .on('executions')
      .column('retry_scheduled_at')
      .where(sql.ref('status'), '=', sql.lit('pending_retry'))
      .execute()
    await db.schema
      .createIndex('executions_validations')
      .ifNotExists()
      .on('executions')
      .column('completed_at')
      .where(sql.ref('business_status'), '=', sql.lit('pending_validation'))
      .execute()
  },
}
