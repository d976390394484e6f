import type { Migration } from '../ports/database/port.ts'

/** Outbound network of agents: mode, allow list, bound credentials, recorded destinations, and the authority. */
export const egress: Migration = {
  name: '0026-egress',
  async up(db) {
    await db.schema
      .alterTable('agents')
      .addColumn('egress_mode', 'text', (c) => c.notNull().defaultTo('off'))
      .execute()
    await db.schema
      .createTable('egress_rules')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('host', 'text', (c) => c.notNull())
      .addColumn('port', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('created_by', 'text')
      .addUniqueConstraint('egress_rules_target', ['agent_id', 'host', 'port'])
      .execute()
    await db.schema
      .createTable('egress_credentials')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('hosts', 'text', (c) => c.notNull())
      .addColumn('places', 'text', (c) => c.notNull())
      .addColumn('value_sealed', 'text')
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addColumn('last_used_at', 'text')
      .addPrimaryKeyConstraint('egress_credentials_key', ['agent_id', 'name'])
      .execute()
    await db.schema
      .createTable('egress_log')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('host', 'text', (c) => c.notNull())
      .addColumn('port', 'integer', (c) => c.notNull())
      .addColumn('decision', 'text', (c) => c.notNull())
      .addColumn('reason', 'text', (c) => c.notNull())
      .addColumn('count', 'integer', (c) => c.notNull())
      .addColumn('first_at', 'text', (c) => c.notNull())
      .addColumn('last_at', 'text', (c) => c.notNull())
      .addUniqueConstraint('egress_log_target', ['agent_id', 'host', 'port', 'decision', 'reason'])
      .execute()
    await db.schema
      .createIndex('egress_log_latest')
      .ifNotExists()
      .on('egress_log')
      .columns(['agent_id', 'last_at'])
      .execute()
    await db.schema
      .createTable('egress_authority')
      .ifNotExists()
      .addColumn('id', 'integer', (c) => c.primaryKey())
      .addColumn('certificate', 'text', (c) => c.notNull())
      .addColumn('key_sealed', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
  },
}
