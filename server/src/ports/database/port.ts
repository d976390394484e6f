import type { Kysely, Transaction } from 'kysely'
import type { RunRows } from './row-statements.ts'

export type { RowStatement } from './row-statements.ts'

/**
 * The database. Both dialects (`sqlite:`, `postgres:`) share the migrations and a portable subset of SQL. Ids
 * are text, times ISO 8601 UTC text of fixed width, booleans 0 or 1, structured values JSON text, money
 * integer micro-units of a US dollar.
 *
 * A store takes an `Executor`: the database itself, or the transaction of `atomically`.
 */
export type Db = {
  readonly dialect: 'sqlite' | 'postgres'
  /** The database typed with the tables of one store. */
  withTables<Tables>(): Kysely<Tables>
  /** Runs statements about hundreds of rows. */
  readonly manyRows: RunRows
  /**
   * Runs `work` in one transaction: everything is committed, or nothing. Takes the write lock immediately on
   * SQLite, so reads inside stay valid. Retries serialization failures and busy databases a limited number of
   * times, so `work` must have no external effects.
   * Inside, use only stores made from `tx`: other queries and a second `atomically` throw. `tx.onCommitted`
   * callbacks run after the commit, in order. PostgreSQL uses read committed: resolve races by conditional
   * updates and unique keys.
   */
  atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `atomically`, for many small transactions: concurrent ones of this process are committed together.
   * If one fails, all are rolled back and each is repeated alone, so `work` may run again. Work about the
   * same thing runs in call order, so its locks and counts are safe.
   * Members are not isolated from one another. Use `tx.inTurn` to change rows that two members may touch.
   */
  atomicallyShared<T>(shared: Shared, work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs `work` on one consistent state of the database; `work` must not write. Blocks writers on SQLite, so
   * it must be short.
   */
  snapshot<T>(work: (on: Executor) => Promise<T>): Promise<T>
  /** Resolves when the database answers; throws otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The database is unreachable or closed the connection. A rejected statement is a different error. */
export class DatabaseDown extends Error {
  constructor(cause: unknown) {
    super('The database cannot be reached.', { cause })
    this.name = 'DatabaseDown'
  }
}

/** The disk is full: writes fail until there is space, reads still work. */
export class DatabaseFull extends Error {
  constructor(cause: unknown) {
    super('The database cannot write: its disk is full. Make room there.', { cause })
    this.name = 'DatabaseFull'
  }
}

export type Shared = {
  /**
   * Only transactions of one kind are combined: they take locks in the same order, so they cannot deadlock.
   */
  kind: string
  /** The id of the single object that `work` locks and counts. */
  about: string
  /** Called when all work of the shared transaction is done; an exception prevents the commit. */
  lastly?: () => void
}

export type Tx = {
  withTables<Tables>(): Transaction<Tables>
  readonly manyRows: RunRows
  /**
   * A statement that `work` does not await: the commit follows it directly. If it fails, nothing is committed
   * and `atomically` throws its error.
   */
  alongside(statement: Promise<unknown>): void
  /**
   * Runs `work` while no other member of a shared transaction is in its turn. Without sharing it runs
   * immediately.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Not called after a rollback. Must not throw. */
  onCommitted(act: () => void): void
}

/** What a store works on: the database itself or an open transaction. */
export type Executor = { withTables<Tables>(): Kysely<Tables>; readonly manyRows: RunRows }

export type Migration = {
  /** For example `0001-accounts`; applied in order of names, each once, in its own transaction. */
  name: string
  /** SHA-256 of its code, in hexadecimal; recorded when it is applied and compared at later starts. */
  checksum?: string | undefined
  up(db: Kysely<unknown>, schema: SchemaTools): Promise<void>
}

/** Schema operations outside the portable subset, implemented per dialect. */
export type SchemaTools = {
  /**
   * Makes the database refuse every UPDATE of `table`, and every DELETE of a row unless its `timeColumn` is
   * below `sweep_before` in the single row of `guard`. Both tables must exist. The text column `sweep_before`
   * is null while no sweep runs.
   */
  makeAppendOnly(table: string, timeColumn: string, guard: string): Promise<void>
  /**
   * Reserves `percent` of each page for updates of a frequently changed table. Updates of unindexed columns
   * then stay in the page and do not touch its indexes.
   */
  keepRoom(table: string, percent: number): Promise<void>
}

/** The data for `/health`. */
export type MigrationState = { applied: number; expected: number; first_pending: string | null }

/** This version must not work on this database; the message says which migration and why. */
export class SchemaError extends Error {}

/** A migration that the database has is not the one that this version would have applied. */
export class ChangedMigrationError extends SchemaError {
  constructor(sentence: string) {
    super(`${sentence} Nothing was changed. Start the version that applied it, or restore a backup.`)
    this.name = 'ChangedMigrationError'
  }
}

/** The database was migrated by a newer version of Roost. */
export class NewerSchemaError extends SchemaError {
  readonly unknown: string[]
  constructor(unknown: string[]) {
    super(
      `The database has a newer schema than this version of Roost knows (${unknown.join(', ')}): start the newer version.`,
    )
    this.name = 'NewerSchemaError'
    this.unknown = unknown
  }
}

/** SQLSTATE, and SQLite's extended codes, of a row whose unique or primary key exists. */
const sqlStateDuplicate = '23505'
const sqliteDuplicates = [1555, 2067]

/** Whether a statement failed because a row with its unique key exists. On PostgreSQL its transaction is lost. */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && error.code === sqlStateDuplicate) return true
  return 'errcode' in error && sqliteDuplicates.includes(Number(error.errcode))
}
