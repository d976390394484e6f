import { type RawBuilder, sql } from 'kysely'
import { timestamp } from '../../kit/clock.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from './store.ts'
import type { ExecutionTables } from './tables.ts'

export type QueuedRun = Pick<ExecutionRow, 'id' | 'triggered_by' | 'queued_at' | 'source_mcp_key_id'>
export type Waiting = { id: string; serial_key: string | null; principal: string | null }
/**
 * `bounded` counts waiting runs against the limit, held ones included. `last_place` is `queued_at` of the
 * last queued run.
 */
export type QueueCounts = {
  waiting: number
  bounded: number
  running: number
  of_key: number
  last_place: string | null
}

export type LineCounts = Pick<
  ExecutionRow,
  'last_line' | 'line_offset' | 'line_bytes' | 'left_out_lines' | 'left_out_at'
>
export type OpenRuns = { activeSchedules: ReadonlySet<string>; lastQueuedAt: ReadonlyMap<string, string> }

/** Condition of the index `executions_open`, which stays small: runs that have not ended. */
export const isOpen = sql<boolean>`completed_at is null`
/**
 * A running run without a claim is carried by the platform itself, such as a phone call. No agent holds it,
 * and it takes no slot.
 */
const holdsSlot = sql<boolean>`claim_token is not null`

/**
 * State changes of the queue. Each is conditional on the previous state and returns whether it succeeded.
 * Lock the queue (`lockQueue`) before counting, so that counts stay valid.
 */
export function queueStore(executor: Executor) {
  const db = executor.withTables<ExecutionTables>()
  /** The queue; held runs have no position in it yet. */
  const queue = (agentId: string) =>
    db
      .selectFrom('executions')
      .where('agent_id', '=', agentId)
      .where(isOpen)
      .where('status', '=', 'queued')
      .where('queued_at', 'is not', null)
  return {
    /**
     * Locks the agent's queue until the transaction ends, and reserves `count` queue numbers. Returns the
     * last of them.
     */
    async lockQueue(agentId: string, count = 1): Promise<number> {
      const row = await db
        .insertInto('agent_queues')
        .values({ agent_id: agentId, last_number: count })
        .onConflict((c) =>
          c
            .column('agent_id')
            .doUpdateSet((e) => ({ last_number: e('agent_queues.last_number', '+', count) })),
        )
        .returning('last_number')
        .executeTakeFirstOrThrow()
      return row.last_number
    },

    /** `lockQueue` for several agents, in one statement and by agent id, so that two calls never deadlock. */
    async lockQueues(counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
      const values = [...counts].map(([agent_id, last_number]) => ({ agent_id, last_number }))
      if (values.length === 0) return new Map()
      const rows = await db
        .insertInto('agent_queues')
        .values(values.sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1)))
        .onConflict((c) =>
          c.column('agent_id').doUpdateSet((e) => ({
            last_number: e('agent_queues.last_number', '+', e.ref('excluded.last_number')),
          })),
        )
        .returning(['agent_id', 'last_number'])
        .execute()
      return new Map(rows.map((row) => [row.agent_id, row.last_number]))
    },

    /**
     * The schedules of these agents with a run that is queued, running or about to be retried, and the `queued_at`
     * of the last run in each queue. Validations do not count as runs of their schedule.
     */
    async openRuns(agentIds: readonly string[]): Promise<OpenRuns> {
      const rows =
        agentIds.length === 0
          ? []
          : await db
              .selectFrom('executions')
              .select([
                'agent_id',
                'schedule_id',
                sql<number>`max(case when triggered_by != 'validation' then 1 else 0 end)`.as('is_active'),
                sql<string | null>`max(case when status = 'queued' then queued_at end)`.as('last_queued_at'),
              ])
              .where('agent_id', 'in', [...agentIds])
              .where(isOpen)
              .where('status', 'in', ['queued', 'running', 'pending_retry'])
              .groupBy(['agent_id', 'schedule_id'])
              .execute()
      const lastQueuedAt = new Map<string, string>()
      for (const { agent_id, last_queued_at } of rows) {
        const known = lastQueuedAt.get(agent_id) ?? ''
        if (last_queued_at !== null && last_queued_at > known) lastQueuedAt.set(agent_id, last_queued_at)
      }
      const active = rows.filter(({ is_active }) => is_active === 1)
      return {
        activeSchedules: new Set(active.flatMap(({ schedule_id }) => schedule_id ?? [])),
        lastQueuedAt,
      }
    },

    /** Counts of the agent's queue and slots, and of open runs with `serialKey`. */
    async queueLength(agentId: string, serialKey: string | null): Promise<QueueCounts> {
      const count = (condition: RawBuilder<unknown>) =>
        sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`
      return db
        .selectFrom('executions')
        .select([
          count(sql`status = 'queued' and queued_at is not null`).as('waiting'),
          count(sql`status = 'queued' and is_bounded = 1`).as('bounded'),
          count(sql`status = 'running' and ${holdsSlot}`).as('running'),
          count(sql`serial_key = ${serialKey ?? ''}`).as('of_key'),
          sql<string | null>`max(case when status = 'queued' then queued_at end)`.as('last_place'),
        ])
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where('status', 'in', ['queued', 'running'])
        .executeTakeFirstOrThrow()
    },

    /** Every run that holds a slot. */
    async runningOf(agentId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where(holdsSlot)
        .where('status', '=', 'running')
        .execute()
    },

    /** Chain depth of the deepest run that holds a slot; 0 without one. */
    async deepestRunning(agentId: string): Promise<number> {
      const { depth } = await db
        .selectFrom('executions')
        .select((e) => e.fn.max<number | null>('chain_depth').as('depth'))
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where(holdsSlot)
        .where('status', '=', 'running')
        .executeTakeFirstOrThrow()
      return depth ?? 0
    },

    /** Ids of the runs that hold a slot. */
    async runningIds(agentId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('executions')
        .select('id')
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where(holdsSlot)
        .where('status', '=', 'running')
        .execute()
      return rows.map((row) => row.id)
    },

    /** `running`: ids of the runs that hold a slot. `isWaiting`: others are queued and not held. */
    async beforeClaim(agentId: string): Promise<{ running: string[]; isWaiting: boolean }> {
      const waiting = queue(agentId).select(['id', 'status']).limit(1).as('waiting')
      const rows = await db
        .selectFrom('executions')
        .select(['id', 'status'])
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where(holdsSlot)
        .where('status', '=', 'running')
        .unionAll(db.selectFrom(waiting).select(['id', 'status']))
        .execute()
      const running = rows.filter(({ status }) => status === 'running').map(({ id }) => id)
      return { running, isWaiting: running.length < rows.length }
    },

    /** Serial key of every run that holds a slot; null for runs without one. */
    async runningKeys(agentId: string): Promise<(string | null)[]> {
      const rows = await db
        .selectFrom('executions')
        .select('serial_key')
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where(holdsSlot)
        .where('status', '=', 'running')
        .execute()
      return rows.map((row) => row.serial_key)
    },

    /** Queued runs in claim order, without held ones. `only`: the principals of these runs; null: all. */
    async waitingOf(
      agentId: string,
      limit: number,
      only: ReadonlySet<string | null> | null = null,
    ): Promise<Waiting[]> {
      if (only?.size === 0) return []
      const named = [...(only ?? [])].filter((principal) => principal !== null)
      return queue(agentId)
        .$if(only !== null, (query) =>
          query.where((eb) =>
            eb.or([
              ...(named.length > 0 ? [eb('principal', 'in', named)] : []),
              ...(only?.has(null) ? [eb('principal', 'is', null)] : []),
            ]),
          ),
        )
        .select(['id', 'serial_key', 'principal'])
        .orderBy('queued_at')
        .orderBy('queue_number')
        .limit(limit)
        .execute()
    },

    /** The number of queued runs of each principal, without held ones. */
    async waitingPrincipals(agentId: string): Promise<{ principal: string | null; runs: number }[]> {
      const rows = await queue(agentId)
        .select(['principal', (eb) => eb.fn.countAll().as('runs')])
        .groupBy('principal')
        .execute()
      return rows.map(({ principal, runs }) => ({ principal, runs: Number(runs) }))
    },

    /** The first queued runs, with the columns of a queue view. */
    async firstQueued(agentId: string, limit: number): Promise<QueuedRun[]> {
      return queue(agentId)
        .select(['id', 'triggered_by', 'queued_at', 'source_mcp_key_id'])
        .orderBy('queued_at')
        .orderBy('queue_number')
        .limit(limit)
        .execute()
    },

    /** Every accepted run that waits, held ones included. */
    async queuedOf(agentId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where('status', '=', 'queued')
        .orderBy('queue_number')
        .execute()
    },

    /** Position of a run that is queued now: after all others, even when the clock was set back. */
    async endOfQueue(agentId: string, now: string): Promise<string> {
      const { last } = await queue(agentId)
        .select((e) => e.fn.max<string | null>('queued_at').as('last'))
        .executeTakeFirstOrThrow()
      // Held runs have older numbers, which would win between equal times.
      return last !== null && last >= now ? timestamp(new Date(Date.parse(last) + 1)) : now
    },

    async countWaiting(agentId: string): Promise<number> {
      const row = await queue(agentId)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Puts a held run into the queue. Returns false when it is queued already or has ended. */
    async release(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ queued_at: at })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .where('queued_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** pending_retry → queued, at the end of the queue. Returns false when it is no longer pending. */
    async releaseRetry(id: string, { number, at }: { number: number; at: string }): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ status: 'queued', queued_at: at, queue_number: number })
        .where('id', '=', id)
        .where('status', '=', 'pending_retry')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** queued → running. Returns the rows that were still queued, in the order of `ids`. */
    async claim(
      ids: readonly string[],
      claim: { token: number; at: string; leaseExpiresAt: string },
    ): Promise<ExecutionRow[]> {
      const rows = await db
        .updateTable('executions')
        .set((e) => ({
          status: 'running' as const,
          claim_token: claim.token,
          started_at: claim.at,
          spawned_at: null,
          lease_expires_at: claim.leaseExpiresAt,
          line_offset: e('last_line', '+', e.ref('left_out_lines')),
        }))
        .where('id', 'in', [...ids])
        .where('status', '=', 'queued')
        .returningAll()
        .execute()
      return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    },

    /** running → queued, at its old position. Voids the claim. */
    async requeue(id: string, claimToken: number, restarts: number): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({
          status: 'queued',
          started_at: null,
          spawned_at: null,
          lease_expires_at: null,
          restarts,
        })
        .where('id', '=', id)
        .where('status', '=', 'running')
        .where('claim_token', '=', claimToken)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Marks the runs as spawned and renews their leases. Returns the runs whose claims are still valid. */
    async markSpawned(
      holds: readonly Hold[],
      at: string,
      leaseExpiresAt: string,
    ): Promise<ReadonlySet<string>> {
      const rows = await db
        .updateTable('executions')
        .set((e) => ({
          spawned_at: e.fn.coalesce('spawned_at', e.val(at)),
          lease_expires_at: leaseExpiresAt,
        }))
        .where('status', '=', 'running')
        .where((e) =>
          e.or(
            padded(holds).map(({ id, agentId, claimToken }) =>
              e.and([e('id', '=', id), e('agent_id', '=', agentId), e('claim_token', '=', claimToken)]),
            ),
          ),
        )
        .returning('id')
        .execute()
      return new Set(rows.map(({ id }) => id))
    },

    /**
     * Reserves the line numbers up to `to.last_line` when no line came after `from`, and renews the lease. Returns
     * false when the caller must read the row again.
     */
    async advanceLines(
      hold: Hold,
      { from, to, leaseExpiresAt }: { from: LineCounts; to: LineCounts; leaseExpiresAt: string },
    ): Promise<boolean> {
      const result = await ofHold(hold)
        .set({ ...to, lease_expires_at: leaseExpiresAt })
        .where('last_line', '=', from.last_line)
        .where('left_out_lines', '=', from.left_out_lines)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Whole MiB that transcripts of the agent's runs have stored on this day (UTC). */
    async transcriptMebibytes(agentId: string, day: string): Promise<number> {
      const row = await db
        .selectFrom('agent_queues')
        .select('transcript_mebibytes')
        .where('agent_id', '=', agentId)
        .where('transcript_day', '=', day)
        .executeTakeFirst()
      return row?.transcript_mebibytes ?? 0
    },

    async addTranscriptMebibytes(agentId: string, day: string, count: number): Promise<void> {
      await db
        .updateTable('agent_queues')
        .set((e) => ({
          transcript_mebibytes: e
            .case()
            .when('transcript_day', '=', day)
            .then(e('transcript_mebibytes', '+', count))
            .else(count)
            .end(),
          transcript_day: day,
        }))
        .where('agent_id', '=', agentId)
        .execute()
    },

    async renewLeases(agentId: string, ids: readonly string[], leaseExpiresAt: string): Promise<void> {
      if (ids.length === 0) return
      await db
        .updateTable('executions')
        .set({ lease_expires_at: leaseExpiresAt })
        .where('id', 'in', [...ids])
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where('status', '=', 'running')
        .execute()
    },

    async waitingRows(agentId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where(isOpen)
        .where('status', 'in', ['queued', 'pending_retry'])
        .execute()
    },

    /** Open runs of an agent, and those of other agents that may have come from its runs. */
    async openWithPrincipal(agentId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where(isOpen)
        .where('status', 'in', ['queued', 'running', 'pending_retry'])
        .where('principal', 'is not', null)
        .where((e) => e.or([e('agent_id', '=', agentId), e('principal', 'like', `%agent:${agentId}/%`)]))
        .execute()
    },

    async removeQueue(agentId: string): Promise<void> {
      await db.deleteFrom('agent_queues').where('agent_id', '=', agentId).execute()
    },
  }

  function ofHold({ id, agentId, claimToken }: Hold) {
    return db
      .updateTable('executions')
      .where('id', '=', id)
      .where('agent_id', '=', agentId)
      .where('claim_token', '=', claimToken)
      .where('status', '=', 'running')
  }
}

/** Repeats the last item up to a power of two, so that few different statements are prepared. */
function padded<T>(list: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, list.length)))
  return Array.from({ length }, (_, index) => list[Math.min(index, list.length - 1)]).filter(
    (item) => item !== undefined,
  )
}

/** A run as an agent names it; valid while it is running under this claim. */
export type Hold = { id: string; agentId: string; claimToken: number }
export type QueueStore = ReturnType<typeof queueStore>
