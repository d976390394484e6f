import type { Migration } from '../ports/database/port.ts'

/** Agents write transcripts, so their size has limits per run and per agent. */
export const transcriptLimits: Migration = {
  name: '0105-transcript-limits',
  async up(db) {
    for (const column of ['line_bytes', 'left_out_lines']) {
      await db.schema
        .alterTable('executions')
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    }
  },
}
