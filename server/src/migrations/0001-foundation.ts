import { type Kysely, sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Tables that every feature uses: settings, provider keys, events, leases, audit, idempotency. */
export const foundation: Migration = {
  name: '0001-foundation',
  async up(db, schema) {
    await settings(db)
    await outbox(db)
    await leases(db)
    await audit(db)
    await schema.makeAppendOnly('audit_log', 'timestamp', 'audit_guard')
    await idempotency(db)
  },
}

async function settings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('settings')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('provider_keys')
    .addColumn('provider', 'text', (column) => column.primaryKey())
    .addColumn('sealed_key', 'text', (column) => column.notNull())
    .addColumn('hint', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('last_tested_at', 'text')
    .addColumn('last_test_ok', 'integer')
    .execute()
}

async function outbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('position', 'integer')
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('agent_names', 'text', (column) => column.notNull())
    .addColumn('agent_ids', 'text', (column) => column.notNull())
    .addColumn('audience', 'text')
    .addColumn('visible_to_user_id', 'text')
    .addColumn('fields', 'text', (column) => column.notNull())
    .addColumn('ts', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('outbox_position').on('outbox').column('position').unique().execute()
  // Partial index on the few rows without a position.
  await db.schema
    .createIndex('outbox_unplaced')
    .on('outbox')
    .column('sequence')
    .where(sql.ref('position'), 'is', null)
    .execute()
  await db.schema
    .createTable('outbox_head')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('position', 'integer', (column) => column.notNull())
    .execute()
  await sql`insert into outbox_head (id, position) values (1, 0)`.execute(db)
}

async function leases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('token', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
}

async function audit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_log')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('event_id', 'text', (column) => column.notNull().unique())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('event_action', 'text', (column) => column.notNull())
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('actor_email', 'text')
    .addColumn('actor_ip', 'text')
    .addColumn('mcp_key_id', 'text')
    .addColumn('mcp_key_name', 'text')
    .addColumn('mcp_scope', 'text')
    .addColumn('target_type', 'text')
    .addColumn('target_id', 'text')
    .addColumn('timestamp', 'text', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text')
    .addColumn('status', 'integer')
    .addColumn('previous_hash', 'text')
    .addColumn('entry_hash', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('audit_log_timestamp').on('audit_log').column('timestamp').execute()
  await db.schema
    .createIndex('audit_log_target')
    .on('audit_log')
    .columns(['target_type', 'target_id'])
    .execute()
  await db.schema.createIndex('audit_log_actor').on('audit_log').column('actor_id').execute()
  // The head is a separate row that writers of all processes lock, so that the chain has no forks.
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_id', 'integer', (column) => column.notNull())
    .addColumn('last_hash', 'text')
    .execute()
  await sql`insert into audit_head (id, last_id) values (1, 0)`.execute(db)
  await db.schema
    .createTable('audit_guard')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('sweep_before', 'text')
    .execute()
  await sql`insert into audit_guard (id) values (1)`.execute(db)
}

async function idempotency(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_claims')
    .addColumn('scope', 'text', (column) => column.primaryKey())
    .addColumn('claim_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('execution_id', 'text')
    .addColumn('fan_out_id', 'text')
    .addColumn('status', 'integer')
    .addColumn('body', 'text')
    .addColumn('receipt', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('idempotency_claims_expiry')
    .on('idempotency_claims')
    .column('expires_at')
    .execute()
}
