import type { Executor } from '../../ports/database/port.ts'
import type { Memory } from './rules.ts'
import { blank } from './rules.ts'
import type { BreakerKind, BreakersTable, BreakerTables } from './tables.ts'

export function breakerStore(executor: Executor) {
  const db = executor.withTables<BreakerTables>()
  return {
    /** Blank when nothing is remembered. */
    async read(agentId: string, kind: BreakerKind): Promise<Memory> {
      const row = await db
        .selectFrom('breakers')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .executeTakeFirst()
      return row ? memoryOf(row) : blank
    },

    /** Of every agent that has a row, at once: the rows are few and small. */
    async all(kind: BreakerKind): Promise<Map<string, Memory>> {
      const rows = await db.selectFrom('breakers').selectAll().where('kind', '=', kind).execute()
      return new Map(rows.map((row) => [row.agent_id, memoryOf(row)]))
    },

    /** Reads it and holds it until the transaction ends: of two that change it, one sees the other's change. */
    async hold(agentId: string, kind: BreakerKind): Promise<Memory> {
      const row = await db
        .insertInto('breakers')
        .values({ agent_id: agentId, kind, ...columnsOf(blank) })
        .onConflict((c) => c.columns(['agent_id', 'kind']).doUpdateSet({ kind }))
        .returningAll()
        .executeTakeFirstOrThrow()
      return memoryOf(row)
    },

    /** The same for several agents, in the order of their ids. */
    async holdAll(agentIds: readonly string[], kind: BreakerKind): Promise<Map<string, Memory>> {
      if (agentIds.length === 0) return new Map()
      const rows = await db
        .insertInto('breakers')
        .values([...agentIds].sort().map((agent_id) => ({ agent_id, kind, ...columnsOf(blank) })))
        .onConflict((c) => c.columns(['agent_id', 'kind']).doUpdateSet({ kind }))
        .returningAll()
        .execute()
      return new Map(rows.map((row) => [row.agent_id, memoryOf(row)]))
    },

    /** Remembers nothing any more, when anything was remembered. */
    async clear(agentId: string, kind: BreakerKind): Promise<void> {
      await db
        .updateTable('breakers')
        .set(columnsOf(blank))
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .where((e) =>
          e.or([e('failure_count', '>', 0), e('openings', '>', 0), e('retry_at', 'is not', null)]),
        )
        .execute()
    },

    /** The run was the probe and says nothing: another one may be. */
    async releaseProbe(agentId: string, kind: BreakerKind, executionId: string): Promise<void> {
      await db
        .updateTable('breakers')
        .set({ probe_execution_id: null })
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .where('probe_execution_id', '=', executionId)
        .execute()
    },

    /** Of a breaker that is held. */
    async write(agentId: string, kind: BreakerKind, memory: Memory): Promise<void> {
      await db
        .updateTable('breakers')
        .set(columnsOf(memory))
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .execute()
    },

    async forget(agentId: string): Promise<void> {
      await db.deleteFrom('breakers').where('agent_id', '=', agentId).execute()
    },
  }
}

function memoryOf(row: BreakersTable): Memory {
  return {
    failureCount: row.failure_count,
    // Written below.
    failedAt: JSON.parse(row.failed_at) as string[],
    openings: row.openings,
    retryAt: row.retry_at,
    probe: row.probe_execution_id,
  }
}

function columnsOf(memory: Memory): Omit<BreakersTable, 'agent_id' | 'kind'> {
  return {
    failure_count: memory.failureCount,
    failed_at: JSON.stringify(memory.failedAt),
    openings: memory.openings,
    retry_at: memory.retryAt,
    probe_execution_id: memory.probe,
  }
}
