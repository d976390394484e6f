import type { Migration } from '../ports/database/port.ts'

/** Canvases of agents, and links to them. */
export const canvas: Migration = {
  name: '0037-canvas',
  async up(db) {
    await db.schema
      .createTable('agent_canvases')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('canvas_id', 'text', (c) => c.notNull())
      .addColumn('title', 'text')
      .addColumn('audience', 'text', (c) => c.notNull())
      .addColumn('template', 'text')
      .addColumn('pinned', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addColumn('updated_by_execution_id', 'text')
      // The last column, so that lists do not read its pages.
      .addColumn('blocks', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('agent_canvases_key', ['agent_id', 'canvas_id'])
      .execute()
    await db.schema
      .createTable('canvas_shares')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('canvas_id', 'text', (c) => c.notNull())
      // For the lookup of a token. The token itself is encrypted, because the owner can see it again.
      .addColumn('token_hash', 'text', (c) => c.notNull().unique())
      .addColumn('token_sealed', 'text', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('revoked_at', 'text')
      .addColumn('last_viewed_at', 'text')
      .addColumn('view_count', 'integer', (c) => c.notNull())
      .addForeignKeyConstraint(
        'canvas_shares_canvas',
        ['agent_id', 'canvas_id'],
        'agent_canvases',
        ['agent_id', 'canvas_id'],
        (constraint) => constraint.onDelete('cascade'),
      )
      .execute()
    await db.schema
      .createIndex('canvas_shares_of')
      .ifNotExists()
      .on('canvas_shares')
      .columns(['agent_id', 'canvas_id'])
      .execute()
  },
}
