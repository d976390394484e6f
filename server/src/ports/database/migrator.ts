import { type Kysely, sql } from 'kysely'
import { schemaTools } from './append-only.ts'
import {
  ChangedMigrationError,
  type Db,
  type Migration,
  type MigrationState,
  NewerSchemaError,
  type Tx,
} from './port.ts'

/** Ends the name of a migration that processes of the previous release cannot work beside. */
const breakingSuffix = '-breaking'

type Tables = {
  schema_migrations: { name: string; applied_at: string }
  /** A table of its own, because releases up to 0.1.0 created the one above without a checksum. */
  schema_checksums: { name: string; checksum: string }
}

/**
 * Applies pending migrations, each once even with concurrent starts. Returns the names that it applied.
 * Throws without changes: `NewerSchemaError` when the database has migrations unknown to this version, and
 * `ChangedMigrationError` when an applied one was changed or renamed since.
 */
export async function migrate(
  db: Db,
  migrations: Migration[],
  options: { now: () => Date; progress?: (text: string) => void },
): Promise<string[]> {
  const ordered = inOrder(migrations)
  const appliedHere: string[] = []
  for (;;) {
    const name = await db.atomically(async (tx) => {
      const applied = await lockedNames(tx, db.dialect)
      await refuseChanged(tx, applied, ordered)
      refuseNewer(applied, ordered)
      const pending = ordered.find((migration) => !applied.has(migration.name))
      if (!pending) return null
      options.progress?.(`applying migration ${pending.name}`)
      const kysely = tx.withTables<Tables>()
      await pending.up(kysely as unknown as Kysely<unknown>, schemaTools(tx, db.dialect))
      await kysely
        .insertInto('schema_migrations')
        .values({ name: pending.name, applied_at: options.now().toISOString() })
        .execute()
      await recordChecksums(kysely, [pending])
      return pending.name
    })
    if (name === null) return appliedHere
    appliedHere.push(name)
  }
}

/** For a process that starts. Throws `NewerSchemaError`. */
export async function migrationState(db: Db, migrations: Migration[]): Promise<MigrationState> {
  const ordered = inOrder(migrations)
  const applied = await appliedNames(db)
  refuseNewer(applied, ordered)
  return stateOf(applied, ordered)
}

function stateOf(applied: Set<string>, ordered: Migration[]): MigrationState {
  return {
    applied: ordered.filter(({ name }) => applied.has(name)).length,
    expected: ordered.length,
    first_pending: ordered.find(({ name }) => !applied.has(name))?.name ?? null,
  }
}

/**
 * For a process that runs: a later version may have migrated meanwhile. Throws `NewerSchemaError` only for migrations
 * that this version cannot work beside.
 */
export async function runningState(
  db: Db,
  migrations: Migration[],
): Promise<MigrationState & { isNewer: boolean }> {
  const ordered = inOrder(migrations)
  const applied = await appliedNames(db)
  const unknown = unknownNames(applied, ordered)
  const breaking = unknown.filter((name) => name.endsWith(breakingSuffix))
  if (breaking.length > 0) throw new NewerSchemaError(breaking)
  const known = new Set([...applied].filter((name) => !unknown.includes(name)))
  return { ...stateOf(known, ordered), isNewer: unknown.length > 0 }
}

/**
 * Serializes migrations: on SQLite the transaction holds the write lock, PostgreSQL uses an advisory lock.
 */
async function lockedNames(tx: Tx, dialect: Db['dialect']): Promise<Set<string>> {
  const kysely = tx.withTables<Tables>()
  if (dialect === 'postgres') {
    await sql`set local statement_timeout = 0`.execute(kysely)
    await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(kysely)
  }
  await kysely.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute()
  await kysely.schema
    .createTable('schema_checksums')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('checksum', 'text', (column) => column.notNull())
    .execute()
  return readNames(kysely)
}

/** An arbitrary number that Roost locks nowhere else. */
const advisoryLock = 7_706_778

async function appliedNames(db: Db): Promise<Set<string>> {
  try {
    return await readNames(db.withTables<Tables>())
  } catch (error) {
    if (isMissingTable(error)) return new Set()
    throw error
  }
}

function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === '42P01') || /no such table/.test(error.message)
}

async function readNames(kysely: Kysely<Tables>): Promise<Set<string>> {
  const rows = await kysely.selectFrom('schema_migrations').select('name').execute()
  return new Set(rows.map(({ name }) => name))
}

/** Also records the checksums of migrations that a release without checksums applied. */
async function refuseChanged(tx: Tx, applied: Set<string>, ordered: Migration[]): Promise<void> {
  const kysely = tx.withTables<Tables>()
  const rows = await kysely.selectFrom('schema_checksums').selectAll().execute()
  const recorded = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum } of ordered) {
    const before = recorded.get(name)
    if (checksum && before && before !== checksum)
      throw new ChangedMigrationError(`The migration ${name} was changed after it had been applied.`)
  }
  const known = new Set(ordered.map(({ name }) => name))
  for (const { name, checksum } of rows) {
    const renamed = ordered.find((migration) => migration.checksum === checksum)
    if (!known.has(name) && renamed)
      throw new ChangedMigrationError(
        `The migration ${name} was renamed to ${renamed.name} after it had been applied.`,
      )
  }
  await recordChecksums(
    kysely,
    ordered.filter(({ name }) => applied.has(name) && !recorded.has(name)),
  )
}

async function recordChecksums(kysely: Kysely<Tables>, migrations: Migration[]): Promise<void> {
  const rows = migrations.flatMap(({ name, checksum }) => (checksum ? [{ name, checksum }] : []))
  if (rows.length > 0) await kysely.insertInto('schema_checksums').values(rows).execute()
}

function refuseNewer(applied: Set<string>, ordered: Migration[]): void {
  const unknown = unknownNames(applied, ordered)
  if (unknown.length > 0) throw new NewerSchemaError(unknown)
}

function unknownNames(applied: Set<string>, ordered: Migration[]): string[] {
  const known = new Set(ordered.map(({ name }) => name))
  return [...applied].filter((name) => !known.has(name)).sort()
}

function inOrder(migrations: Migration[]): Migration[] {
  const ordered = migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const duplicate = ordered.find((migration, index) => migration.name === ordered[index + 1]?.name)
  if (duplicate) throw new Error(`Two migrations are named ${duplicate.name}.`)
  return ordered
}
