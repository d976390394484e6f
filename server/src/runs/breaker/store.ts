import type { Executor } from '../../ports/database/port.ts'
import { blank, type Memory } from './rules.ts'

export type BreakerKind = 'dispatch' | 'transport'

/** At most one row per agent and kind; no row means a closed breaker without failures. */
export type BreakersTable = {
  agent_id: string
  kind: BreakerKind
  /** Dispatch: consecutive failures. Transport: failed calls within the window at the last failure. */
  failure_count: number
  /** JSON array of times of failed calls within the window. Always empty for dispatch. */
  failed_at: string
  /** Number of openings since it was last closed; each doubles the wait. */
  openings: number
  /** When it becomes half open. Null while closed. */
  retry_at: string | null
  /** Dispatch: the run that was accepted while half open. */
  probe_execution_id: string | null
}

export type BreakerTables = { breakers: BreakersTable }

export function breakerStore(executor: Executor) {
  const db = executor.withTables<BreakerTables>()
  return {
    /** Blank when nothing is stored. */
    async read(agentId: string, kind: BreakerKind): Promise<Memory> {
      const row = await db
        .selectFrom('breakers')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .executeTakeFirst()
      return row ? memoryOf(row) : blank
    },

    /** Of every agent with a row, in one query: the rows are few and small. */
    async all(kind: BreakerKind): Promise<Map<string, Memory>> {
      const rows = await db.selectFrom('breakers').selectAll().where('kind', '=', kind).execute()
      return new Map(rows.map((row) => [row.agent_id, memoryOf(row)]))
    },

    /** Reads and locks it until the transaction ends, so that concurrent changes see each other. */
    async hold(agentId: string, kind: BreakerKind): Promise<Memory> {
      const row = await db
        .insertInto('breakers')
        .values({ agent_id: agentId, kind, ...columnsOf(blank) })
        .onConflict((c) => c.columns(['agent_id', 'kind']).doUpdateSet({ kind }))
        .returningAll()
        .executeTakeFirstOrThrow()
      return memoryOf(row)
    },

    /** `hold` for several agents, in the order of their ids. */
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

    /** Resets it when it is not blank. */
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

    /** The run was the probe but has no verdict, so another run may be the probe. */
    async releaseProbe(agentId: string, kind: BreakerKind, executionId: string): Promise<void> {
      await db
        .updateTable('breakers')
        .set({ probe_execution_id: null })
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .where('probe_execution_id', '=', executionId)
        .execute()
    },

    /** Call only for a locked breaker. */
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
    // Written by `columnsOf`.
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
