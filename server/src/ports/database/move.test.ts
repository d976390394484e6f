import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import { migrations } from '../../migrations/index.ts'
import { forEachDialect, type OpenTestDb, openTestDatabase, type TestDb } from '../../test/dialects.ts'
import { MoveError, moveDatabase } from './move.ts'
import type { Db, Executor } from './port.ts'

type Row = Record<string, unknown>
type Tables = Record<string, Row>

const now = () => new Date('2030-01-01T00:00:00.000Z')
const move = (from: Db, to: Db) => moveDatabase({ from, to, migrations, now, progress: () => {} })

const rowsOf = async <R>(db: Db, query: RawBuilder<R>) => (await query.execute(db.withTables())).rows

type Column = { name: string; type: string; notnull: number; pk: number }
type Reference = { id: number; table: string; from: string; to: string | null }

/** Three rows in each table, with values at the limits of their types; rows refer to rows that exist. */
async function fill(db: TestDb): Promise<Map<string, Row[]>> {
  const filled = new Map<string, Row[]>()
  const tables = await rowsOf(
    db,
    sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`,
  )
  const fillTable = async (table: string): Promise<Row[]> => {
    const known = filled.get(table)
    if (known) return known
    const rows: Row[] = [{}, {}, {}]
    filled.set(table, rows)
    const references = await rowsOf(db, sql<Reference>`select * from pragma_foreign_key_list(${table})`)
    const parents = new Map<string, Row[]>()
    for (const { table: parent } of references)
      parents.set(parent, parent === table ? rows : await fillTable(parent))
    const columns = await rowsOf(
      db,
      sql<Column>`select name, type, "notnull", pk from pragma_table_info(${table})`,
    )
    for (const [index, row] of rows.entries()) {
      for (const column of columns) row[column.name] = sampleOf(table, column, index)
      for (const { table: parent, from, to } of references)
        row[from] = parents.get(parent)?.[index]?.[to ?? from]
    }
    await db.withTables<Tables>().deleteFrom(table).execute()
    await db.withTables<Tables>().insertInto(table).values(rows).execute()
    return rows
  }
  await rowsOf(db, sql`pragma foreign_keys = off`)
  for (const { name } of tables) if (!name.startsWith('schema_')) await fillTable(name)
  await rowsOf(db, sql`pragma foreign_keys = on`)
  assert.deepEqual(await rowsOf(db, sql`select * from pragma_foreign_key_check`), [])
  return filled
}

function sampleOf(table: string, { name, type, notnull, pk }: Column, index: number): unknown {
  if (notnull === 0 && pk === 0 && index === 2) return null
  if (name === 'sequence') return index + 1
  if (name === 'expires_at') return `2029-12-31T23:59:5${index}.000Z`
  if (/text/i.test(type)) return `${table}.${name} ${index} Ünï “q” 'x' \\ 😀\n{"a":[1]}`
  if (/double/i.test(type)) return [0.1 + 0.2, -1e-300, 1e300][index]
  return [1, 2 ** 40, Number.MAX_SAFE_INTEGER][index]
}

/** All rows of all tables but those of the migrations, sorted by their text. */
async function contents(db: Db, tables: Iterable<string>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const rows = await db.withTables<Tables>().selectFrom(table).selectAll().execute()
    found[table] = rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()
  }
  return found
}

async function addEvent(db: Db): Promise<number> {
  const event = { type: 'x', agent_names: '[]', agent_ids: '[]', fields: '{}', ts: 'x' }
  const [row] = await db
    .withTables<Tables>()
    .insertInto('outbox')
    .values(event)
    .returning('sequence')
    .execute()
  return Number(row?.sequence)
}

const refusal = (text: RegExp) => (error: unknown) => error instanceof MoveError && text.test(error.message)

forEachDialect((dialect, open: OpenTestDb) => {
  describe(`a move from SQLite to ${dialect} and back`, () => {
    test('keeps every row of every table, and ids go on', async () => {
      await using source = await openTestDatabase()
      await using target = await open({ migrated: false })
      await using last = await openTestDatabase({ migrated: false })
      await fill(source)
      // The database must not assign the ids of deleted rows again.
      await source.withTables<Tables>().deleteFrom('outbox').where('sequence', '>', 1).execute()
      const tables = (
        await rowsOf(source, sql<{ name: string }>`select name from sqlite_master where type = 'table'`)
      )
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('sqlite_'))
      const before = await contents(source, tables)
      const moved = await move(source, target)
      assert.equal(moved.tables, tables.length)
      assert.equal(moved.rows, Object.values(before).flat().length)
      assert.deepEqual(await contents(target, tables), before)
      await move(target, last)
      assert.deepEqual(await contents(last, tables), before)
      for (const db of [source, target, last]) assert.equal(await addEvent(db), 4)
    })

    test('no limit of time ends the transaction of a database that waits for the other one', async (t) => {
      if (dialect === 'sqlite') return t.skip('it has no limits')
      await using source = await openTestDatabase()
      await using target = await open({ migrated: false })
      await using last = await openTestDatabase({ migrated: false })
      let limits: string[] = []
      const watched =
        <On extends Executor, T>(work: (on: On) => Promise<T>) =>
        async (on: On) => {
          const done = await work(on)
          const { rows } = await sql<{ setting: string }>`select setting from pg_settings
            where name in ('statement_timeout', 'idle_in_transaction_session_timeout')`.execute(
            on.withTables(),
          )
          limits = rows.map(({ setting }) => setting)
          return done
        }
      await move(source, { ...target, atomically: (work) => target.atomically(watched(work)) })
      assert.deepEqual(limits, ['0', '0'], 'of the target')
      await move({ ...target, snapshot: (work) => target.snapshot(watched(work)) }, last)
      assert.deepEqual(limits, ['0', '0'], 'of the source')
    })

    test('is refused while a platform holds a lease, and for a target with tables', async () => {
      await using source = await openTestDatabase()
      await using target = await open({ migrated: false })
      const lease = { name: 'background', holder: 'a', token: 1, expires_at: '2030-01-01T00:00:05.000Z' }
      const leases = source.withTables<Tables>()
      await leases.insertInto('leases').values(lease).execute()
      await assert.rejects(move(source, target), refusal(/uses the source.*2030-01-01T00:00:05/))
      await leases.updateTable('leases').set({ expires_at: '2029-12-31T23:59:59.000Z' }).execute()
      await move(source, target)
      await assert.rejects(move(source, target), refusal(/not empty/))
    })

    test('with a row that refers to nothing moves nothing', async () => {
      await using source = await openTestDatabase()
      await using target = await open({ migrated: false })
      const rows = await fill(source)
      const [user] = rows.get('users') ?? []
      // As after a repair of the file by hand.
      await rowsOf(source, sql`pragma foreign_keys = off`)
      await source.withTables<Tables>().deleteFrom('users').where('id', '=', user?.id).execute()
      await assert.rejects(move(source, target), refusal(/do not exist/))
      const { users = [], settings = [] } = await contents(target, ['users', 'settings'])
      assert.deepEqual([users, settings], [[], []])
    })
  })
})
