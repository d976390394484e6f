import type { Migration } from '../ports/database/port.ts'

/** Prices of messages to agents, paid runs, payment proofs and their outcomes. */
export const paidChat: Migration = {
  name: '0034-paid-chat',
  async up(db) {
    await db.schema
      .createTable('paid_chats')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('price_micros', 'integer', (c) => c.notNull())
      .addColumn('pay_to', 'text', (c) => c.notNull())
      .addColumn('network', 'text', (c) => c.notNull())
      .addColumn('asset', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('paid_turns')
      .ifNotExists()
      .addColumn('execution_id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('request_hash', 'text', (c) => c.notNull())
      .addColumn('payer', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('proof_hash', 'text')
      .addColumn('busy_until', 'text')
      .addColumn('network', 'text', (c) => c.notNull())
      .addColumn('transaction', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .execute()
    // A proof pays for one run, across all agents.
    await db.schema
      .createTable('paid_proofs')
      .ifNotExists()
      .addColumn('proof_hash', 'text', (c) => c.primaryKey())
      .addColumn('execution_id', 'text', (c) =>
        c.notNull().references('paid_turns.execution_id').onDelete('cascade'),
      )
      .addColumn('sealed', 'text')
      .execute()
    await db.schema
      .createTable('payments')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('execution_id', 'text')
      .addColumn('action', 'text', (c) => c.notNull())
      .addColumn('payer', 'text')
      .addColumn('amount', 'text', (c) => c.notNull())
      .addColumn('asset', 'text', (c) => c.notNull())
      .addColumn('network', 'text', (c) => c.notNull())
      .addColumn('transaction', 'text')
      .addColumn('success', 'integer', (c) => c.notNull())
      .addColumn('error', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
    const indexes = [
      ['paid_turns_kept', 'paid_turns', ['agent_id', 'payer', 'request_hash']],
      ['paid_turns_expiry', 'paid_turns', ['state', 'expires_at']],
      ['paid_proofs_turn', 'paid_proofs', ['execution_id']],
      ['payments_agent', 'payments', ['agent_id', 'created_at']],
      ['payments_expiry', 'payments', ['action', 'created_at']],
    ] as const
    for (const [name, table, columns] of indexes) {
      await db.schema
        .createIndex(name)
        .ifNotExists()
        .on(table)
        .columns([...columns])
        .execute()
    }
  },
}
