import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { AgentHealthTable, HealthChecksTable, MonitoringTables } from './tables.ts'

/** Rows per insert statement. */
const batchSize = 100

/** The history of checks, and the newest result per agent. */
export function checkStore(executor: Executor) {
  const db = executor.withTables<MonitoringTables>()
  const before = (time: string) => db.selectFrom('health_checks').where('checked_at', '<', time)
  return {
    /** Ids of the agents that exist. */
    async existing(): Promise<Set<string>> {
      const rows = await db.selectFrom('agents').select('id').where('state', '=', 'ready').execute()
      return new Set(rows.map(({ id }) => id))
    },

    async newest(): Promise<Map<string, AgentHealthTable>> {
      const rows = await db.selectFrom('agent_health').selectAll().execute()
      return new Map(rows.map((row) => [row.agent_id, row]))
    },

    async newestOf(agentId: string): Promise<AgentHealthTable | null> {
      const query = db.selectFrom('agent_health').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Ignores a second check of an agent in the same millisecond. */
    async add(checks: readonly HealthChecksTable[]): Promise<void> {
      for (let from = 0; from < checks.length; from += batchSize) {
        const rows = checks.slice(from, from + batchSize)
        await db
          .insertInto('health_checks')
          .values(rows)
          .onConflict((c) => c.doNothing())
          .execute()
        const now = rows.map(({ agent_id, status, checked_at }) => ({
          agent_id,
          status,
          checked_at,
          latency_ms: null,
        }))
        await db
          .insertInto('agent_health')
          .values(now)
          .onConflict((c) =>
            c.column('agent_id').doUpdateSet((e) => ({
              status: e.ref('excluded.status'),
              checked_at: e.ref('excluded.checked_at'),
            })),
          )
          .execute()
      }
    },

    async noteLatency(agentId: string, latency_ms: number | null): Promise<void> {
      await db.updateTable('agent_health').set({ latency_ms }).where('agent_id', '=', agentId).execute()
    },

    /** Newest first. */
    history(agentId: string, since: string, limit: number): Promise<HealthChecksTable[]> {
      return db
        .selectFrom('health_checks')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('checked_at', '>=', since)
        .orderBy('checked_at', 'desc')
        .limit(limit)
        .execute()
    },

    /** Counts checks of an agent that should run, by whether it did. */
    async uptime(agentId: string, since: string): Promise<{ isUp: boolean; total: number }[]> {
      const rows = await db
        .selectFrom('health_checks')
        .select(({ fn }) => ['container_status', fn.countAll<number>().as('total')])
        .where('agent_id', '=', agentId)
        .where('checked_at', '>=', since)
        .where((e) => e.or([e('container_status', '=', 'running'), e('status', '!=', 'unknown')]))
        .groupBy('container_status')
        .execute()
      return rows.map((row) => ({ isUp: row.container_status === 'running', total: Number(row.total) }))
    },

    async forget(agentId: string): Promise<void> {
      await db.deleteFrom('health_checks').where('agent_id', '=', agentId).execute()
      await db.deleteFrom('agent_health').where('agent_id', '=', agentId).execute()
    },

    async countBefore(time: string): Promise<number> {
      const row = await before(time)
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },
    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('health_checks')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },
    async removeBefore(time: string, limit: number): Promise<number> {
      const oldest = before(time).select(['agent_id', 'checked_at']).orderBy('checked_at').limit(limit)
      const result = await db
        .deleteFrom('health_checks')
        .where(sql<boolean>`(agent_id, checked_at) in ${oldest}`)
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
