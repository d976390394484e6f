import type { Migration } from '../ports/database/port.ts'

/** Ratings of reports by people in the Workspace. */
export const workspaceRatings: Migration = {
  name: '0046-workspace-ratings',
  async up(db) {
    await db.schema
      .createTable('agent_report_ratings')
      .ifNotExists()
      .addColumn('report_id', 'text', (c) => c.notNull().references('agent_reports.id').onDelete('cascade'))
      .addColumn('holder_id', 'text', (c) => c.notNull())
      .addColumn('rating', 'text', (c) => c.notNull())
      .addColumn('comment', 'text')
      .addColumn('rated_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('agent_report_ratings_key', ['report_id', 'holder_id'])
      .execute()
  },
}
