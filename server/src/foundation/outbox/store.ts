import { type Generated, type Insertable, type InsertResult, type Selectable, sql } from 'kysely'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import type { NewEvent, StoredEvent } from './event.ts'

export type OutboxTables = {
  outbox: {
    /** Order of insertion. Differs from the order of delivery, because a later insert can be committed earlier. */
    sequence: Generated<number>
    /** Order of delivery, assigned by the relay after the commit; null until then. */
    position: number | null
    type: string
    /** JSON array of text. */
    agent_names: string
    /** JSON array of text. */
    agent_ids: string
    audience: string | null
    visible_to_user_id: string | null
    /** JSON object. */
    fields: string
    /** JSON `ReservedFields`. */
    reserved: string | null
    /** JSON `SeenBy`. */
    seen_by: string | null
    ts: string
  }
  /** One row: the newest position. A relay locks it before it assigns positions. */
  outbox_head: { id: number; position: number }
}

export function outboxStore(on: Executor) {
  const db = on.withTables<OutboxTables>()
  return {
    async insert(event: NewEvent, ts: string): Promise<void> {
      await this.insertAll([event], ts)
    },

    /** Inserts in order. The statements are sent without waiting for each other. */
    async insertAll(events: readonly NewEvent[], ts: string): Promise<void> {
      const insertion: RowStatement<OutboxRow, InsertResult> = {
        name: 'outbox.insert',
        rows: rowsPerInsert,
        make: (some) => db.insertInto('outbox').values([...some]),
      }
      await on.manyRows(
        insertion,
        events.map((event) => rowOf(event, ts)),
      )
    },

    /** The newest position, and whether events have none yet; in one statement, because idle processes poll it. */
    async news(): Promise<{ newest: number; hasWithoutPosition: boolean }> {
      const row = await db
        .selectFrom('outbox_head')
        .select('position')
        .select(({ selectFrom }) =>
          selectFrom('outbox').select('sequence').where('position', 'is', null).limit(1).as('unpositioned'),
        )
        .executeTakeFirstOrThrow()
      return { newest: row.position, hasWithoutPosition: row.unpositioned !== null }
    },

    /**
     * Assigns the next positions to at most `limit` events and returns these in order. Needs a transaction: it
     * locks the head row first, so relays take turns and each sees the positions of the one before it.
     * No statement waits for the result of another, so all are sent together.
     */
    async assignPositions(limit: number): Promise<StoredEvent[]> {
      const head = db.updateTable('outbox_head').where('id', '=', 1)
      const newEvents = db
        .selectFrom('outbox')
        .select([
          'sequence as of_sequence',
          sql<number>`row_number() over (order by sequence)`.as('event_rank'),
        ])
        .where('position', 'is', null)
        .orderBy('sequence')
        .limit(limit)
      const [, positioned] = await Promise.all([
        head.set({ position: sql<number>`position` }).execute(),
        db
          .updateTable('outbox')
          .from(newEvents.as('new_events'))
          .set({
            position: sql<number>`(select position from outbox_head where id = 1) + new_events.event_rank`,
          })
          .whereRef('outbox.sequence', '=', 'new_events.of_sequence')
          .returning(eventColumns)
          .execute(),
        head.set({ position: sql<number>`coalesce((select max(position) from outbox), position)` }).execute(),
      ])
      return positioned.map(eventOf).sort((a, b) => a.position - b.position)
    },

    async head(): Promise<number> {
      const row = await db.selectFrom('outbox_head').select('position').executeTakeFirstOrThrow()
      return row.position
    },

    /** Oldest stored position; null when no event is stored. */
    async oldest(): Promise<number | null> {
      const row = await db
        .selectFrom('outbox')
        .select((of) => of.fn.min<number | null>('position').as('position'))
        .executeTakeFirst()
      return row?.position ?? null
    },

    async after(position: number, limit: number): Promise<StoredEvent[]> {
      const rows = await db
        .selectFrom('outbox')
        .select(eventColumns)
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map(eventOf)
    },

    /** Removes the events up to the last one from before `before`, so that the rest has no gaps. */
    async trimBefore(before: string): Promise<void> {
      const last = db
        .selectFrom('outbox')
        .select((of) => of.fn.max<number | null>('position').as('position'))
        .where('ts', '<', before)
      await db.deleteFrom('outbox').where('position', '<=', last).execute()
    },

    /** Removes all but the newest `count` events. */
    async trim(count: number): Promise<void> {
      const newest = await this.head()
      await db
        .deleteFrom('outbox')
        .where('position', '<=', newest - count)
        .execute()
    },
  }
}

/** Longest insert. A fixed length keeps the number of prepared statements small. */
const rowsPerInsert = 100

type OutboxRow = Insertable<OutboxTables['outbox']>

function rowOf(event: NewEvent, ts: string): OutboxRow {
  return {
    position: null,
    type: event.type,
    agent_names: JSON.stringify(event.agent_names),
    agent_ids: JSON.stringify(event.agent_ids),
    audience: event.audience ?? null,
    visible_to_user_id: event.visible_to_user_id ?? null,
    fields: JSON.stringify(event.fields),
    reserved: event.reserved ? JSON.stringify(event.reserved) : null,
    seen_by: event.seen_by ? JSON.stringify(event.seen_by) : null,
    ts,
  }
}

const eventColumns = [
  'position',
  'type',
  'agent_names',
  'agent_ids',
  'audience',
  'visible_to_user_id',
  'fields',
  'reserved',
  'seen_by',
  'ts',
] as const

function eventOf(row: Pick<Selectable<OutboxTables['outbox']>, (typeof eventColumns)[number]>): StoredEvent {
  return {
    type: row.type,
    agent_names: JSON.parse(row.agent_names),
    agent_ids: JSON.parse(row.agent_ids),
    ...(row.audience === 'admin' ? { audience: row.audience } : {}),
    ...(row.visible_to_user_id === null ? {} : { visible_to_user_id: row.visible_to_user_id }),
    fields: JSON.parse(row.fields),
    ...(row.reserved === null ? {} : { reserved: JSON.parse(row.reserved) }),
    ...(row.seen_by === null ? {} : { seen_by: JSON.parse(row.seen_by) }),
    // Rows without a position are never read.
    position: row.position ?? 0,
    ts: row.ts,
  }
}
