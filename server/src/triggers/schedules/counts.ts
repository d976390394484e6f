import type { Executor } from '../../ports/database/port.ts'
import type { ScheduleTables } from './tables.ts'

/** Numbers of schedules that are not deleted, as other features ask for them. */
export function scheduleCountStore(executor: Executor) {
  const db = executor.withTables<ScheduleTables>()
  return {
    /** Agents without any are left out. */
    async counts(): Promise<Map<string, { total: number; enabled: number }>> {
      const rows = await db
        .selectFrom('schedules')
        .select((e) => [
          'agent_id',
          e.fn.countAll<number>().as('total'),
          e.fn.sum<number>('enabled').as('enabled'),
        ])
        .where('deleted_at', 'is', null)
        .groupBy('agent_id')
        .execute()
      return new Map(
        rows.map((row) => [row.agent_id, { total: Number(row.total), enabled: Number(row.enabled) }]),
      )
    },

    async total(): Promise<number> {
      const row = await db
        .selectFrom('schedules')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Enabled ones, and those that a resume enables again; the longest timeout first. */
    async above(
      agentId: string,
      seconds: number,
    ): Promise<{ id: string; name: string; timeout_seconds: number }[]> {
      const rows = await db
        .selectFrom('schedules')
        .select(['id', 'name', 'timeout_seconds'])
        .where('agent_id', '=', agentId)
        .where('deleted_at', 'is', null)
        .where((e) => e.or([e('enabled', '=', 1), e('is_paused', '=', 1)]))
        .where('timeout_seconds', '>', seconds)
        .orderBy('timeout_seconds', 'desc')
        .execute()
      return rows.map((row) => ({ ...row, timeout_seconds: row.timeout_seconds ?? 0 }))
    },
  }
}
