import { sql } from 'kysely'
import { asSealed, type SealedColumn, type SealedText } from '../../foundation/vault/index.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'

export type SealedRow = { key: Record<string, string>; context: string; sealed: SealedText }
type Values = Record<string, string>
type Tables = Record<string, Values>

/** Connections of the rotation itself have this `application_name` on PostgreSQL. */
export const connectionName = 'roost-rotate-key'

/** Rows read at a time, which bounds the memory of a rotation. */
const batchSize = 500

/** Reads the values of a column in the order of the key, in batches. */
export async function* sealedRows(on: Executor, each: SealedColumn): AsyncGenerator<SealedRow[]> {
  const { table, column, key, reads = [] } = each
  const keyColumns = sql.join(key.map((name) => sql.ref(name)))
  let last: Values | undefined
  for (;;) {
    let query = on
      .withTables<Tables>()
      .selectFrom(table)
      .select([...new Set([...key, ...reads, column])])
      .where(column, 'is not', null)
      .limit(batchSize)
    for (const name of key) query = query.orderBy(name)
    if (last) {
      const values = sql.join(key.map((name) => last?.[name]))
      query = query.where(sql<boolean>`(${keyColumns}) > (${values})`)
    }
    const rows: Values[] = await query.execute()
    if (rows.length > 0)
      yield rows.map((row) => ({
        key: Object.fromEntries(key.map((name) => [name, row[name] ?? ''])),
        context: each.context(row),
        sealed: asSealed(row[column] ?? ''),
      }))
    if (rows.length < batchSize) return
    last = rows.at(-1)
  }
}

export async function replaceSealed(
  tx: Tx,
  { table, column }: SealedColumn,
  rows: readonly { key: Record<string, string>; sealed: SealedText }[],
): Promise<void> {
  const db = tx.withTables<Tables>()
  await Promise.all(
    rows.map(({ key, sealed }) => {
      let query = db.updateTable(table).set({ [column]: sealed })
      for (const [name, value] of Object.entries(key)) query = query.where(name, '=', value)
      return query.execute()
    }),
  )
}

/** A process that uses the database, as text for the operator; null when there is none. */
export async function otherUser(
  tx: Tx,
  { dialect }: Pick<Db, 'dialect'>,
  now: string,
): Promise<string | null> {
  const held = await tx
    .withTables<{ leases: { name: string; holder: string; expires_at: string } }>()
    .selectFrom('leases')
    .select('expires_at')
    .where('expires_at', '>', now)
    .orderBy('expires_at', 'desc')
    .executeTakeFirst()
  if (held) return `a platform, until ${held.expires_at} (UTC) at the latest if it was killed`
  if (dialect === 'sqlite') return null
  await sql`select pg_stat_clear_snapshot()`.execute(tx.withTables())
  const found = await sql<{ count: number; names: string | null }>`
    select count(*)::int as count, string_agg(distinct application_name, ', ') as names from pg_stat_activity
    where datname = current_database() and usename = current_user and backend_type = 'client backend'
      and application_name <> ${connectionName}`.execute(tx.withTables())
  const { count, names } = found.rows[0] ?? { count: 0, names: null }
  return count === 0 ? null : `${count} other connections of the same database user (${names ?? 'no name'})`
}

/**
 * Makes starting processes wait until the transaction ends: each reads this table before it uses its key. Lifts the
 * limits of time for this transaction. SQLite has its lock already.
 */
export async function holdStarts(tx: Tx, { dialect }: Pick<Db, 'dialect'>): Promise<void> {
  if (dialect === 'sqlite') return
  await sql`set local statement_timeout = 0`.execute(tx.withTables())
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx.withTables())
  await sql`lock table retired_keys in access exclusive mode`.execute(tx.withTables())
}

/**
 * Removes replaced text from the file of SQLite, where free pages keep it. PostgreSQL reuses the space of old rows by
 * itself.
 */
export async function removeReplaced(db: Db): Promise<void> {
  if (db.dialect !== 'sqlite') return
  await sql`vacuum`.execute(db.withTables())
  await sql`pragma wal_checkpoint(truncate)`.execute(db.withTables())
}
