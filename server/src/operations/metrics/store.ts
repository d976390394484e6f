import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'

/** Columns of other features' tables. */
type MetricsTables = {
  executions: {
    status: string
    triggered_by: string
    created_at: string
    queued_at: string | null
    lease_expires_at: string | null
    cost_micros: number | null
    input_tokens: number | null
    output_tokens: number | null
    cache_creation_tokens: number | null
    cache_read_tokens: number | null
  }
  outbox: { position: number | null; ts: string }
  scheduler_state: { checked_at: string; next_due_at: string | null }
}

const kinds = ['input_tokens', 'output_tokens', 'cache_creation_tokens', 'cache_read_tokens'] as const
export type TokenKind = (typeof kinds)[number]

export type Counts = {
  runs: { status: string; triggered_by: string; count: number }[]
  queued: { count: number; oldest: string | null }
  running: { count: number; firstLeaseEnds: string | null }
  outbox: { count: number; oldest: string | null }
  scheduler: { checked_at: string; next_due_at: string | null } | null
  tokens: Record<TokenKind, number>
  costMicros: number
}

/** Reads the tables of other features. `since` limits the counted past. */
export async function readCounts(executor: Executor, since: string): Promise<Counts> {
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
  // PostgreSQL returns counts and sums as text, and null as the sum of no rows.
  const tokens = Object.fromEntries(kinds.map((kind) => [kind, Number(used[kind] ?? 0)]))
  return {
    runs: runs.map((row) => ({ ...row, count: Number(row.count) })),
    queued: { count: Number(queued.count), oldest: queued.oldest },
    running: { count: Number(running.count), firstLeaseEnds: running.first },
    outbox: { count: Number(outbox.count), oldest: outbox.oldest },
    scheduler: scheduler ?? null,
    // Has one entry for each kind.
    tokens: tokens as Record<TokenKind, number>,
    costMicros: Number(used.cost_micros ?? 0),
  }
}
