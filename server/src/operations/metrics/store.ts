import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { MetricsTables } from './tables.ts'

const kinds = ['input_tokens', 'output_tokens', 'cache_creation_tokens', 'cache_read_tokens'] as const
export type TokenKind = (typeof kinds)[number]

export type Counted = {
  runs: { status: string; triggered_by: string; count: number }[]
  queued: { count: number; oldest: string | null }
  running: { count: number; firstLeaseEnds: string | null }
  outbox: { count: number; oldest: string | null }
  scheduler: { checked_at: string; next_due_at: string | null } | null
  tokens: Record<TokenKind, number>
  costMicros: number
}

/** Reads over the tables of others; `since` bounds what is counted of the past. */
export async function readCounts(executor: Executor, since: string): Promise<Counted> {
  const db = executor.withTables<MetricsTables>()
  const [runs, used, queued, running, outbox, scheduler] = await Promise.all([
    db
      .selectFrom('executions')
      .select((e) => ['status', 'triggered_by', e.fn.countAll().as('count')])
      .where('created_at', '>=', since)
      .groupBy(['status', 'triggered_by'])
      .execute(),
    db
      .selectFrom('executions')
      .select((e) => [
        ...kinds.map((kind) => e.fn.sum(kind).as(kind)),
        e.fn.sum('cost_micros').as('cost_micros'),
      ])
      .where('created_at', '>=', since)
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('executions')
      .select((e) => [e.fn.countAll().as('count'), e.fn.min('queued_at').as('oldest')])
      .where('status', '=', 'queued')
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('executions')
      .select((e) => [e.fn.countAll().as('count'), e.fn.min('lease_expires_at').as('first')])
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('outbox')
      .select((e) => [e.fn.countAll().as('count'), sql<string | null>`min(ts)`.as('oldest')])
      .where('position', 'is', null)
      .executeTakeFirstOrThrow(),
    db.selectFrom('scheduler_state').select(['checked_at', 'next_due_at']).executeTakeFirst(),
  ])
  // PostgreSQL counts and sums into types that come as text; nothing is a sum of null.
  const tokens = Object.fromEntries(kinds.map((kind) => [kind, Number(used[kind] ?? 0)]))
  return {
    runs: runs.map((row) => ({ ...row, count: Number(row.count) })),
    queued: { count: Number(queued.count), oldest: queued.oldest },
    running: { count: Number(running.count), firstLeaseEnds: running.first },
    outbox: { count: Number(outbox.count), oldest: outbox.oldest },
    scheduler: scheduler ?? null,
    // One entry for each kind, made the line before.
    tokens: tokens as Record<TokenKind, number>,
    costMicros: Number(used.cost_micros ?? 0),
  }
}
