import type { Executor } from '../../ports/database/port.ts'

/** In micro-dollars. An agent without a row, and a null column, have no cap. */
export type SpendCapsTable = {
  agent_id: string
  daily_micros: number | null
  per_run_micros: number | null
  updated_at: string
}

export function spendCapStore(executor: Executor) {
  const db = executor.withTables<{ spend_caps: SpendCapsTable }>()
  return {
    async of(agentId: string): Promise<Pick<SpendCapsTable, 'daily_micros' | 'per_run_micros'> | null> {
      const query = db.selectFrom('spend_caps').selectAll().where('agent_id', '=', agentId)
      const row = await query.executeTakeFirst()
      // PostgreSQL returns integers of this size as text.
      return row
        ? { daily_micros: numberOf(row.daily_micros), per_run_micros: numberOf(row.per_run_micros) }
        : null
    },

    /** Daily caps in micro-dollars by agent id. */
    async daily(): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('spend_caps')
        .select(['agent_id', 'daily_micros'])
        .where('daily_micros', 'is not', null)
        .execute()
      return new Map(rows.map(({ agent_id, daily_micros }) => [agent_id, Number(daily_micros)]))
    },

    /** Columns missing in the patch keep their values. */
    async put(agentId: string, patch: Partial<SpendCapsTable>, now: string): Promise<void> {
      await db
        .insertInto('spend_caps')
        .values({ agent_id: agentId, daily_micros: null, per_run_micros: null, ...patch, updated_at: now })
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ ...patch, updated_at: now }))
        .execute()
    },
  }
}

function numberOf(value: number | string | null): number | null {
  return value === null ? null : Number(value)
}
