import type { Kysely, Transaction } from 'kysely'

/**
 * The database. One list of migrations and one portable subset of SQL for both dialects (`sqlite:`,
 * `postgres:`): ids are text, times ISO 8601 UTC text of fixed width, booleans 0 or 1, structured values
 * JSON text, money integer micro-units of a US dollar.
 *
 * A store takes an `Executor`: the database itself, or the transaction of `atomically`.
 */
export type Db = {
  readonly dialect: 'sqlite' | 'postgres'
  /** The same database seen through the tables of one store. */
  withTables<Tables>(): Kysely<Tables>
  /**
   * Runs `work` in one transaction: all of it is committed, or nothing. Write-locks at once on SQLite, so a
   * read inside cannot be overtaken; serialization faults and busy databases are retried a bounded number
   * of times, so `work` must not act on the outside.
   * Inside, use only stores made from `tx`: on SQLite the database's own executor waits for the
   * transaction to end. `tx.onCommitted` runs after the commit, in order.
   */
  atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Answers when the database does; throws otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}

export type Tx = {
  withTables<Tables>(): Transaction<Tables>
  /** Not called when the transaction is rolled back. Must not throw. */
  onCommitted(act: () => void): void
}

/** What a store works on: the database itself or an open transaction. */
export type Executor = { withTables<Tables>(): Kysely<Tables> }

export type Migration = {
  /** `0001-accounts`; applied in order of names, each once. */
  name: string
  up(db: Kysely<unknown>): Promise<void>
}

/** What `/health` shows. */
export type MigrationState = { applied: number; expected: number; first_pending: string | null }
