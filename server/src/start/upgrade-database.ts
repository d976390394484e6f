import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { refuseForeign } from '../foundation/installation/index.ts'
import { settleRotation } from '../foundation/vault/index.ts'
import type { Clock } from '../kit/clock.ts'
import { migrations } from '../migrations/index.ts'
import { type Code, type Packaging, UpgradeError, upgradeData } from '../operations/upgrades/index.ts'
import { readBuildInfo } from '../operations/version/index.ts'
import { migrate, migrationState } from '../ports/database/migrator.ts'
import { DatabaseDown, type Db } from '../ports/database/port.ts'
import { openDatabaseCopies } from '../ports/database-copies/open.ts'
import { fileLock, type Lock } from './file-lock.ts'

const root = resolve(import.meta.dirname, '../../..')
const pauseMs = 250

type Options = { clock: Clock; progress(text: string): void }

/** Backs up and migrates as the only process that does. Returns the names of the applied migrations. */
export async function upgradeDatabase(
  config: Config,
  db: Db,
  { clock, progress }: Options,
): Promise<string[]> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  await using _lock = await lockUpgrade(config, db, { clock, progress })
  // The backup gets the key that opens the database.
  await settleRotation(db, config)
  await refuseForeign(db, config)
  // Awaited here, because the lock ends with this function.
  return await upgradeData({
    key: config,
    copies: copiesOf(config),
    now: clock.now,
    code: await readCode(),
    hasBackup: config.upgradeBackup,
    packaging: packagingOf(config.installSource),
    state: () => migrationState(db, migrations),
    migrate: () => migrate(db, migrations, { now: clock.now, progress }),
    progress,
  })
}

function packagingOf(installSource: string): Packaging {
  return installSource === 'image' || installSource === 'chart' ? installSource : 'checkout'
}

export function copiesOf(config: Config) {
  return openDatabaseCopies(config.databaseUrl.reveal(), { path: process.env.PATH ?? '' })
}

/** The version of this folder. */
export async function readCode(): Promise<Code> {
  const { version, git_commit } = await readBuildInfo(root, { installSource: '', entitlements: [] })
  return { version, commit: git_commit, root }
}

/** For a process without the encryption key: it cannot make the backup, and may have no data folder. */
export async function requireUpgraded(db: Db): Promise<void> {
  const { first_pending } = await migrationState(db, migrations)
  if (first_pending !== null)
    throw new UpgradeError('The database lacks migrations. Start the API of this version first.')
}

/** Time between two looks at the schema while another process upgrades it. */
const lookMs = 1_000

/**
 * Waits until another process has applied all migrations, also while the database does not respond yet. Returns false
 * if the signal aborts first. Throws `SchemaError` for the schema of a later version.
 */
export async function untilUpgraded(
  db: Db,
  { clock, progress, signal }: Options & { signal: AbortSignal },
): Promise<boolean> {
  let reported = ''
  while (!signal.aborted) {
    const missing = await missingOf(db)
    if (missing === null) return true
    if (missing !== reported) progress(missing)
    reported = missing
    await clock.wait(lookMs, signal)
  }
  return false
}

/** Null if the schema is complete. */
async function missingOf(db: Db): Promise<string | null> {
  try {
    const { first_pending } = await migrationState(db, migrations)
    return first_pending && `waiting for the migration ${first_pending}, which another process applies`
  } catch (error) {
    if (!(error instanceof DatabaseDown)) throw error
    return 'waiting for the database'
  }
}

/**
 * Waits until no other process backs up or migrates this database. Both locks end with their process: a lock of
 * PostgreSQL's session, and one of a file, which processes in other containers see too.
 */
export async function lockUpgrade(
  { dataDir }: Pick<Config, 'dataDir'>,
  db: Db,
  { clock, progress }: Options,
): Promise<AsyncDisposable> {
  const take = db.dialect === 'postgres' ? await sessionLock(db) : fileLock(join(dataDir, 'upgrade.lock'))
  try {
    for (let isReported = false; !(await take.attempt()); isReported = true) {
      if (!isReported) progress('waiting for another process that upgrades the database')
      await clock.wait(pauseMs)
    }
  } catch (error) {
    await take.end()
    throw error
  }
  return { [Symbol.asyncDispose]: take.end }
}

/** An arbitrary number that Roost locks nowhere else. */
const lockNumber = 7_706_779

async function sessionLock(db: Db): Promise<Lock> {
  const ready = Promise.withResolvers<Lock>()
  const over = Promise.withResolvers<void>()
  const held = db
    .withTables()
    .connection()
    .execute(async (connection) => {
      ready.resolve({
        async attempt() {
          const query = sql<{ taken: boolean }>`select pg_try_advisory_lock(${lockNumber}) as taken`
          return (await query.execute(connection)).rows[0]?.taken === true
        },
        async end() {
          over.resolve()
          await held
        },
      })
      await over.promise
      // The connection stays open in its pool.
      await sql`select pg_advisory_unlock_all()`.execute(connection)
    })
  held.catch(ready.reject)
  return ready.promise
}
