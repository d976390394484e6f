import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Schedules, their webhooks, and indexes for the runs of a schedule. */
export const schedules: Migration = {
  name: '0014-schedules',
  async up(db) {
    await db.schema
      .createTable('schedules')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('cron_expression', 'text', (c) => c.notNull())
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('is_paused', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('timezone', 'text', (c) => c.notNull())
      .addColumn('misfire_policy', 'text', (c) => c.notNull())
      .addColumn('timeout_seconds', 'integer')
      .addColumn('allowed_tools', 'text')
      .addColumn('model', 'text')
      .addColumn('deliver_to_workspace_email', 'text')
      .addColumn('max_retries', 'integer', (c) => c.notNull())
      .addColumn('retry_delay_seconds', 'integer', (c) => c.notNull())
      .addColumn('validation_enabled', 'integer', (c) => c.notNull())
      .addColumn('validation_prompt', 'text')
      .addColumn('validation_timeout_seconds', 'integer', (c) => c.notNull())
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('created_by_id', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addColumn('armed_at', 'text', (c) => c.notNull())
      .addColumn('deleted_at', 'text')
      .addColumn('position', 'integer', (c) => c.notNull())
      // The webhook.
      .addColumn('webhook_token_hash', 'text')
      .addColumn('webhook_token_sealed', 'text')
      .addColumn('webhook_secret_sealed', 'text')
      .addColumn('webhook_signs_time', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('webhook_created_at', 'text')
      .addColumn('webhook_last_called_at', 'text')
      .execute()
    await db.schema
      .createIndex('schedules_agent')
      .ifNotExists()
      .on('schedules')
      .columns(['agent_id', 'created_at'])
      .execute()
    await db.schema
      .createIndex('schedules_position')
      .ifNotExists()
      .on('schedules')
      .column('position')
      .execute()
    await db.schema
      .createIndex('schedules_webhook')
      .ifNotExists()
      .unique()
      .on('schedules')
      .column('webhook_token_hash')
      .execute()

    // One row, locked by each change of a schedule, so that positions become visible in order.
    await db.schema
      .createTable('schedule_changes')
      .ifNotExists()
      .addColumn('id', 'integer', (c) => c.primaryKey())
      .addColumn('last_position', 'integer', (c) => c.notNull())
      .execute()
    await db
      .withTables<{ schedule_changes: { id: number; last_position: number } }>()
      .insertInto('schedule_changes')
      .values({ id: 1, last_position: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()

    // Partial: most runs belong to no schedule.
    await db.schema
      .createIndex('executions_schedule')
      .ifNotExists()
      .on('executions')
      .columns(scheduleFigures)
      .where(sql.ref('schedule_id'), 'is not', null)
      .execute()
  },
}

/** Covering index for the figures of a schedule's runs. */
const scheduleFigures = [
  'schedule_id',
  'created_at',
  'queue_number',
  'id',
  'status',
  'triggered_by',
  'started_at',
  'duration_ms',
  'cost_micros',
  'tool_count',
]
