import { type Kysely, sql } from 'kysely'
import { schemaTools } from './append-only.ts'
import { type Db, type Migration, type MigrationState, NewerSchemaError, type Tx } from './port.ts'

type Tables = { schema_migrations: { name: string; applied_at: string } }

/**
 * Applies pending migrations, each once even with concurrent starts. Returns the names that it applied.
 * Throws `NewerSchemaError` without changes when the database has migrations unknown to this version.
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
      return pending.name
    })
    if (name === null) return appliedHere
    appliedHere.push(name)
  }
}

/** The data for `/health`. Throws `NewerSchemaError`. */
export async function migrationState(db: Db, migrations: Migration[]): Promise<MigrationState> {
  const ordered = inOrder(migrations)
  const applied = await appliedNames(db)
  refuseNewer(applied, ordered)
  return {
    applied: ordered.filter(({ name }) => applied.has(name)).length,
    expected: ordered.length,
    first_pending: ordered.find(({ name }) => !applied.has(name))?.name ?? null,
  }
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

function refuseNewer(applied: Set<string>, ordered: Migration[]): void {
  const known = new Set(ordered.map(({ name }) => name))
  const unknown = [...applied].filter((name) => !known.has(name)).sort()
  if (unknown.length > 0) throw new NewerSchemaError(unknown)
}

function inOrder(migrations: Migration[]): Migration[] {
  const ordered = migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const duplicate = ordered.find((migration, index) => migration.name === ordered[index + 1]?.name)
  if (duplicate) throw new Error(`Two migrations are named ${duplicate.name}.`)
  return ordered
}
