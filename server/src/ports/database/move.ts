import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { migrate, migrationState } from './migrator.ts'
import type { Db, Executor, Migration, Tx } from './port.ts'
import { byDialect, type SchemaFacts } from './schema-facts.ts'

/** The database cannot be moved; the message says why. The target has no rows then. */
export class MoveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MoveError'
  }
}

export type Move = {
  from: Db
  /** An empty database, usually of the other dialect. */
  to: Db
  migrations: Migration[]
  now: () => Date
  progress: (text: string) => void
}

type Row = Record<string, unknown>
type Tables = Record<string, Row>

/**
 * Copies all rows into an empty database, in one transaction, and compares both: the count of rows and a checksum of
 * each table. The source is not changed. Throws `MoveError`, and `SchemaError` for a source of another version.
 */
export async function moveDatabase(move: Move): Promise<{ tables: number; rows: number }> {
  const { from, to, migrations, now, progress } = move
  await refuseSource(move)
  const target = byDialect(to)
  if ((await target.tables(to)).length > 0)
    throw new MoveError('The target database is not empty: create a new one.')
  progress('creating the tables')
  await migrate(to, migrations, { now })
  return from.snapshot((source) =>
    to.atomically(async (tx) => {
      const facts = byDialect(from)
      // Each transaction waits while the other one reads or writes a whole table.
      await facts.liftTimeLimits(source)
      await target.liftTimeLimits(tx)
      const restore = await target.suspendForeignKeys(tx)
      let rows = 0
      const tables = await facts.tables(source)
      for (const table of tables) {
        progress(`copying ${table}`)
        rows += await copyTable({ source, tx, table, facts, target })
      }
      await restore().catch((cause: Error) => {
        throw new MoveError(`Rows refer to rows that do not exist: ${cause.message}`, { cause })
      })
      for (const [table, next] of await facts.sequences(source)) await target.setSequence(tx, table, next)
      return { tables: tables.length, rows }
    }),
  )
}

async function refuseSource({ from, migrations, now }: Move): Promise<void> {
  const state = await migrationState(from, migrations)
  if (state.applied === 0) throw new MoveError('The source database has no data of Roost.')
  if (state.first_pending !== null)
    throw new MoveError(
      `The source database lacks the migration ${state.first_pending}: start this version of Roost on it first.`,
    )
  const held = await from
    .withTables<{ leases: { name: string; expires_at: string } }>()
    .selectFrom('leases')
    .select(['name', 'expires_at'])
    .where('expires_at', '>', now().toISOString())
    .orderBy('expires_at', 'desc')
    .executeTakeFirst()
  if (held)
    throw new MoveError(
      `A platform uses the source database. Stop it; after a crash, wait until ${held.expires_at} (UTC).`,
    )
}

type Copy = { source: Executor; tx: Tx; table: string; facts: SchemaFacts; target: SchemaFacts }

/** Returns the number of rows. */
async function copyTable({ source, tx, table, facts, target }: Copy): Promise<number> {
  const columns = await facts.columns(source, table)
  const expected = await target.columns(tx, table)
  const names = columns.map(({ name }) => name)
  if (names.join() !== expected.map(({ name }) => name).join())
    throw new MoveError(`The table ${table} has other columns than this version of Roost creates.`)
  const into = tx.withTables<Tables>()
  // Migrations insert rows, such as counters at zero.
  await clear(into, table)
  const key = columns.filter(({ inKey }) => inKey).map(({ name }) => name)
  const before = createDigest(names)
  for await (const rows of batches(source.withTables<Tables>(), table, names, key)) {
    for (const row of rows) before.add(row)
    await into
      .insertInto(table)
      .values(rows)
      .execute()
      .catch((cause: Error) => {
        throw new MoveError(`The table ${table} cannot be copied: ${cause.message}`, { cause })
      })
  }
  const after = createDigest(names)
  for await (const rows of batches(into, table, names, key)) for (const row of rows) after.add(row)
  if (before.text() !== after.text())
    throw new MoveError(`The table ${table} differs after the copy: ${before.text()}, then ${after.text()}.`)
  return before.count()
}

async function clear(into: Kysely<Tables>, table: string): Promise<void> {
  const first = await into.selectFrom(table).select(sql.lit(1).as('found')).limit(1).execute()
  if (first.length > 0) await into.deleteFrom(table).execute()
}

/** Databases accept at least this many parameters in one statement. */
const maxParameters = 32_000

/** Reads a table in the order of its key. Both dialects compare text by bytes. */
async function* batches(db: Kysely<Tables>, table: string, columns: string[], key: string[]) {
  const size = Math.min(500, Math.floor(maxParameters / columns.length))
  const keyColumns = sql.join(key.map((name) => sql.ref(name)))
  let last: Row | undefined
  for (;;) {
    let query = db.selectFrom(table).select(columns).limit(size)
    for (const name of key) query = query.orderBy(name)
    if (last) {
      const values = sql.join(key.map((name) => last?.[name]))
      query = query.where(sql<boolean>`(${keyColumns}) > (${values})`)
    }
    const rows: Row[] = await query.execute()
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    last = rows.at(-1)
  }
}

/** Count and checksum of rows in any order: the sum of the rows' SHA-256. */
function createDigest(columns: string[]) {
  let count = 0
  let sum = 0n
  return {
    add(row: Row) {
      const values = JSON.stringify(columns.map((name) => row[name]))
      count += 1
      sum = BigInt.asUintN(256, sum + BigInt(`0x${createHash('sha256').update(values).digest('hex')}`))
    },
    count: () => count,
    text: () => `${count} rows with checksum ${sum.toString(16).padStart(64, '0')}`,
  }
}
