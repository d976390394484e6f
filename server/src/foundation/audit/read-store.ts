import { routineAuditAction } from '@roost/contracts/foundation/audit'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { AuditRow, AuditTables } from './tables.ts'

/** All given fields must match. Times are `Timestamp`s; both ends of a window are included. */
export type AuditFilter = Partial<
  Record<
    | 'event_type'
    | 'event_action'
    | 'actor_type'
    | 'actor_id'
    | 'target_type'
    | 'target_id'
    | 'source'
    | 'request_id'
    | 'mcp_key_id'
    | 'mcp_scope'
    | 'outcome',
    string | undefined
  >
>
export type AuditWindow = {
  start_time?: string | undefined
  end_time?: string | undefined
  /** False: leaves out the routine entries without an error. */
  routine?: boolean | undefined
}
export type Figure = { day: string; event_type: string; actor_type: string; source: string; count: number }

const refusals = [401, 403]

export function auditReadStore(on: Executor) {
  const db = on.withTables<AuditTables>()

  const within = ({ start_time, end_time, routine }: AuditWindow) =>
    db
      .selectFrom('audit_log')
      .$if(start_time !== undefined, (query) => query.where('timestamp', '>=', start_time ?? ''))
      .$if(end_time !== undefined, (query) => query.where('timestamp', '<=', end_time ?? ''))
      .$if(routine === false, (query) =>
        query.where((of) => of.or([of('event_action', '!=', routineAuditAction), of('status', '>=', 400)])),
      )

  const matching = (filter: AuditFilter, window: AuditWindow) => {
    const { outcome, ...columns } = filter
    let query = within(window)
    for (const [column, value] of Object.entries(columns)) {
      // All other keys of the filter type are columns.
      if (value !== undefined) query = query.where(column as keyof typeof columns, '=', value)
    }
    if (outcome === 'refused') return query.where('status', 'in', refusals)
    if (outcome === 'failed') return query.where('status', '>=', 400).where('status', 'not in', refusals)
    if (outcome === 'ok')
      return query.where((of) => of.or([of('status', 'is', null), of('status', '<', 400)]))
    return query
  }

  return {
    page(filter: AuditFilter, window: AuditWindow, page: { limit: number; offset: number }) {
      return matching(filter, window)
        .selectAll()
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
    },

    async count(filter: AuditFilter, window: AuditWindow): Promise<number> {
      const counted = await matching(filter, window)
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(counted.count)
    },

    one(eventId: string): Promise<AuditRow | undefined> {
      return db.selectFrom('audit_log').selectAll().where('event_id', '=', eventId).executeTakeFirst()
    },

    async figures(window: AuditWindow): Promise<Figure[]> {
      const day = sql<string>`substr(timestamp, 1, 10)`
      const rows = await within(window)
        .select((of) => [
          day.as('day'),
          'event_type',
          'actor_type',
          'source',
          of.fn.countAll<number>().as('count'),
        ])
        .groupBy([day, 'event_type', 'actor_type', 'source'])
        .orderBy('day')
        .execute()
      return rows.map((row) => ({ ...row, count: Number(row.count) }))
    },

    /** First and last id in the window; null when it has no entry. */
    async span(window: AuditWindow): Promise<{ first: number; last: number } | null> {
      const { first, last } = await within(window)
        .select((of) => [
          of.fn.min<number | null>('id').as('first'),
          of.fn.max<number | null>('id').as('last'),
        ])
        .executeTakeFirstOrThrow()
      return first === null || last === null ? null : { first, last }
    },

    range(first: number, last: number, limit: number): Promise<AuditRow[]> {
      return db
        .selectFrom('audit_log')
        .selectAll()
        .where('id', '>=', first)
        .where('id', '<=', last)
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    async hashOf(id: number): Promise<string | undefined> {
      const row = await db
        .selectFrom('audit_log')
        .select('entry_hash')
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.entry_hash
    },

    /** Recorded start and end of the chain, and the oldest and newest id that exist (null: no entry). */
    bounds() {
      return db
        .selectFrom('audit_head')
        .innerJoin('audit_guard', 'audit_guard.id', 'audit_head.id')
        .select((of) => [
          'swept_id',
          'swept_hash',
          'last_id',
          'last_hash',
          of
            .selectFrom('audit_log')
            .select((log) => log.fn.min<number | null>('audit_log.id').as('id'))
            .as('oldest'),
          of
            .selectFrom('audit_log')
            .select((log) => log.fn.max<number | null>('audit_log.id').as('id'))
            .as('newest'),
        ])
        .executeTakeFirstOrThrow()
    },
  }
}
