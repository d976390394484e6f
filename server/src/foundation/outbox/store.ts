import { type Insertable, type InsertResult, type Selectable, sql } from 'kysely'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import type { NewEvent, StoredEvent } from './event.ts'
import type { OutboxTables } from './tables.ts'

export function outboxStore(on: Executor) {
  const db = on.withTables<OutboxTables>()
  return {
    async insert(event: NewEvent, ts: string): Promise<void> {
      await this.insertAll([event], ts)
    },

    /** In their order. The statements are sent at once. */
    async insertAll(events: readonly NewEvent[], ts: string): Promise<void> {
      const insertion: RowStatement<OutboxRow, InsertResult> = {
        name: 'outbox.insert',
        rows: rowsOfInsert,
        make: (some) => db.insertInto('outbox').values([...some]),
      }
      await on.manyRows(
        insertion,
        events.map((event) => rowOf(event, ts)),
      )
    },

    async hasUnplaced(): Promise<boolean> {
      const row = await db
        .selectFrom('outbox')
        .select('sequence')
        .where('position', 'is', null)
        .limit(1)
        .execute()
      return row.length > 0
    },

    /**
     * Gives the next positions to at most `limit` events, and answers them in their order; only inside a
     * transaction. The head's row is locked first, so of several relays one at a time does this, each seeing
     * what the one before it gave. Nothing here waits for an answer, so all of it is sent at once.
     */
    async place(limit: number): Promise<StoredEvent[]> {
      const head = db.updateTable('outbox_head').where('id', '=', 1)
      const unplaced = db
        .selectFrom('outbox')
        .select(['sequence as of_sequence', sql<number>`row_number() over (order by sequence)`.as('place')])
        .where('position', 'is', null)
        .orderBy('sequence')
        .limit(limit)
      const [, placed] = await Promise.all([
        head.set({ position: sql<number>`position` }).execute(),
        db
          .updateTable('outbox')
          .from(unplaced.as('unplaced'))
          .set({ position: sql<number>`(select position from outbox_head where id = 1) + unplaced.place` })
          .whereRef('outbox.sequence', '=', 'unplaced.of_sequence')
          .returning(told)
          .execute(),
        head.set({ position: sql<number>`coalesce((select max(position) from outbox), position)` }).execute(),
      ])
      return placed.map(eventOf).sort((a, b) => a.position - b.position)
    },

    async head(): Promise<number> {
      const row = await db.selectFrom('outbox_head').select('position').executeTakeFirstOrThrow()
      return row.position
    },

    /** The oldest position that is kept; null when none is. */
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
        .select(told)
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map(eventOf)
    },

    /** Removes all but the newest `kept` events. */
    async trim(kept: number): Promise<void> {
      const newest = await this.head()
      await db
        .deleteFrom('outbox')
        .where('position', '<=', newest - kept)
        .execute()
    },
  }
}

/** Few lengths are few statements, and those are prepared. */
const rowsOfInsert = 100

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

/** What listeners are told of a row. */
const told = [
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

function eventOf(row: Pick<Selectable<OutboxTables['outbox']>, (typeof told)[number]>): StoredEvent {
  return {
    type: row.type,
    agent_names: JSON.parse(row.agent_names),
    agent_ids: JSON.parse(row.agent_ids),
    ...(row.audience === 'admin' ? { audience: row.audience } : {}),
    ...(row.visible_to_user_id === null ? {} : { visible_to_user_id: row.visible_to_user_id }),
    fields: JSON.parse(row.fields),
    ...(row.reserved === null ? {} : { reserved: JSON.parse(row.reserved) }),
    ...(row.seen_by === null ? {} : { seen_by: JSON.parse(row.seen_by) }),
    // Rows without a position are not told.
    position: row.position ?? 0,
    ts: row.ts,
  }
}
