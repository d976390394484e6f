import type { Migration } from '../ports/database/port.ts'

/** Agents write transcripts, so their size has limits per run and per agent. */
export const transcriptLimits: Migration = {
  name: '0105-transcript-limits',
  async up(db) {
    for (const [table, column] of [
      ['executions', 'line_bytes'],
      ['executions', 'left_out_lines'],
      ['agent_queues', 'transcript_mebibytes'],
    ] as const) {
      await db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    }
    await db.schema.alterTable('executions').addColumn('left_out_at', 'text').execute()
    await db.schema.alterTable('agent_queues').addColumn('transcript_day', 'text').execute()
  },
}
