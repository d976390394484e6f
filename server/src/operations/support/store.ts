import type { Executor } from '../../ports/database/port.ts'

/** Columns of other features' tables. */
type SupportTables = {
  schema_migrations: { name: string }
  executions: { agent_id: string; status: string }
}

export function supportStore(executor: Executor) {
  const db = executor.withTables<SupportTables>()
  return {
    async migrations(): Promise<string[]> {
      const rows = await db.selectFrom('schema_migrations').select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    },

    async openRuns(): Promise<{ agent_id: string; status: string; count: number }[]> {
      const rows = await db
        .selectFrom('executions')
        .select((e) => ['agent_id', 'status', e.fn.countAll().as('count')])
        .where('status', 'in', ['queued', 'running'])
        .groupBy(['agent_id', 'status'])
        .execute()
      return rows.map((row) => ({ ...row, count: Number(row.count) }))
    },
  }
}
