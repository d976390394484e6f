import { type RawBuilder, sql } from 'kysely'
import type { Db, Executor, Tx } from './port.ts'

/** What a program must know about a schema to copy its rows; each dialect asks in its own way. */
export type SchemaFacts = {
  /** Sorted by name, without the tables of the database itself. */
  tables(on: Executor): Promise<string[]>
  /** Sorted by name. `inKey`: part of the primary key. */
  columns(on: Executor, table: string): Promise<{ name: string; inKey: boolean }[]>
  /** Tables whose ids the database assigns, each with the last assigned id; 0 before the first. */
  sequences(on: Executor): Promise<Map<string, number>>
  /** Later rows of the table get ids above `last`. */
  setSequence(tx: Tx, table: string, last: number): Promise<void>
  /** Lets statements of the transaction, and pauses between them, take any time. */
  liftTimeLimits(on: Executor): Promise<void>
  /** Allows rows in any order until the returned function is called, which checks all of them. */
  suspendForeignKeys(tx: Tx): Promise<() => Promise<void>>
}

export function byDialect({ dialect }: Pick<Db, 'dialect'>): SchemaFacts {
  return dialect === 'sqlite' ? sqlite : postgres
}

async function rowsOf<Row>(on: Executor, query: RawBuilder<Row>): Promise<Row[]> {
  return (await query.execute(on.withTables())).rows
}

const sqlite: SchemaFacts = {
  async tables(on) {
    const own = sql<{ name: string }>`select name from sqlite_master
      where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`
    return (await rowsOf(on, own)).map(({ name }) => name)
  },
  async columns(on, table) {
    const query = sql<{
      name: string
      pk: number
    }>`select name, pk from pragma_table_info(${table}) order by name`
    return (await rowsOf(on, query)).map(({ name, pk }) => ({ name, inKey: pk > 0 }))
  },
  async sequences(on) {
    const query = sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`
    return new Map((await rowsOf(on, query)).map(({ name, seq }) => [name, seq]))
  },
  async setSequence(tx, table, last) {
    await rowsOf(tx, sql`delete from sqlite_sequence where name = ${table}`)
    await rowsOf(tx, sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`)
  },
  async liftTimeLimits() {},
  async suspendForeignKeys(tx) {
    await rowsOf(tx, sql`pragma defer_foreign_keys = on`)
    return async () => {
      const [breach] = await rowsOf(tx, sql<{ table: string }>`select "table" from pragma_foreign_key_check`)
      if (breach) throw new Error(`table ${breach.table}`)
    }
  },
}

type ForeignKey = { table_name: string; name: string; definition: string }

const postgres: SchemaFacts = {
  async tables(on) {
    const query = sql<{ name: string }>`select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name collate "C"`
    return (await rowsOf(on, query)).map(({ name }) => name)
  },
  async columns(on, table) {
    const query = sql<{ name: string; in_key: boolean }>`
      select attname as name, coalesce(attnum = any(indkey), false) as in_key
      from pg_attribute left join pg_index on indrelid = attrelid and indisprimary
      where attrelid = ${`"${table}"`}::regclass and attnum > 0 and not attisdropped
      order by attname collate "C"`
    return (await rowsOf(on, query)).map(({ name, in_key }) => ({ name, inKey: in_key }))
  },
  async sequences(on) {
    const query = sql<{ table_name: string; column_name: string }>`
      select table_name, column_name from information_schema.columns
      where table_schema = current_schema() and is_identity = 'YES'`
    const last = new Map<string, number>()
    for (const { table_name, column_name } of await rowsOf(on, query)) {
      const name = sql`pg_get_serial_sequence(${`"${table_name}"`}, ${column_name})`
      const value = sql<{
        last: number
      }>`select coalesce(pg_sequence_last_value(${name}::regclass), 0) as last`
      last.set(table_name, (await rowsOf(on, value))[0]?.last ?? 0)
    }
    return last
  },
  async setSequence(tx, table, last) {
    const query = sql<{ column_name: string }>`
      select column_name from information_schema.columns
      where table_schema = current_schema() and is_identity = 'YES' and table_name = ${table}`
    for (const { column_name } of await rowsOf(tx, query)) {
      const name = sql`pg_get_serial_sequence(${`"${table}"`}, ${column_name})`
      await rowsOf(
        tx,
        sql`select setval(${name}::regclass, greatest(${last}::bigint, 1), ${last}::bigint > 0)`,
      )
    }
  },
  async liftTimeLimits(on) {
    await rowsOf(on, sql`set local statement_timeout = 0`)
    await rowsOf(on, sql`set local idle_in_transaction_session_timeout = 0`)
  },
  async suspendForeignKeys(tx) {
    const keys = await rowsOf(
      tx,
      sql<ForeignKey>`select relname as table_name, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
        from pg_constraint join pg_class on pg_class.oid = conrelid
        where contype = 'f' and connamespace = current_schema()::regnamespace`,
    )
    // Constraints of this schema are not deferrable, and only superusers can disable their triggers.
    for (const { table_name, name } of keys)
      await rowsOf(tx, sql`alter table ${sql.table(table_name)} drop constraint ${sql.ref(name)}`)
    return async () => {
      for (const { table_name, name, definition } of keys)
        await rowsOf(
          tx,
          sql`alter table ${sql.table(table_name)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`,
        )
    }
  },
}
