import type { Kysely, Transaction } from 'kysely'
import type { RunRows } from './row-statements.ts'

export type { RowStatement } from './row-statements.ts'

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
  /** For statements about rows by the hundred. */
  readonly manyRows: RunRows
  /**
   * Runs `work` in one transaction: all of it is committed, or nothing. Write-locks at once on SQLite, so a
   * read inside cannot be overtaken; serialization faults and busy databases are retried a bounded number
   * of times, so `work` must not act on the outside.
   * Inside, use only stores made from `tx`: a query on the database itself, or a second `atomically`, made
   * while `work` runs throws. `tx.onCommitted` runs after the commit, in order.
   * On PostgreSQL the isolation is read committed: decide races by conditional updates and unique keys.
   */
  atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * As `atomically`, for small transactions that come by the dozen: those of this process that meet are committed
   * together. When one of them fails all are rolled back and each is done by itself, so nobody's fault costs
   * another; `work` may begin again, as there. What is about the same thing is worked on one after another, in the
   * order of asking, so its locks and counts are as safe as alone. Other locks do not keep members from each other: what changes rows that may belong to more
   * than one of them does so in `tx.inTurn`.
   */
  atomicallyShared<T>(shared: Shared, work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Everything that `work` reads is of one state of the database; it must not write. Holds up writers on
   * SQLite, so it has to be short.
   */
  snapshot<T>(work: (on: Executor) => Promise<T>): Promise<T>
  /** Answers when the database does; throws otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The database could not be reached, or ended the connection; what it refuses is no such fault. */
export class DatabaseDown extends Error {
  constructor(cause: unknown) {
    super('The database cannot be reached.', { cause })
    this.name = 'DatabaseDown'
  }
}

/** Nothing can be written before there is room again; what is there can still be read. */
export class DatabaseFull extends Error {
  constructor(cause: unknown) {
    super('The database cannot write: its disk is full. Make room there.', { cause })
    this.name = 'DatabaseFull'
  }
}

export type Shared = {
  /** Only those that take their locks in the same steps go together: of two such groups neither waits for the other. */
  kind: string
  /** The id of the one thing that `work` locks and counts. */
  about: string
  /** Called when all that is committed together has been worked on; what it throws keeps `work` from being committed. */
  lastly?: () => void
}

export type Tx = {
  withTables<Tables>(): Transaction<Tables>
  readonly manyRows: RunRows
  /**
   * A statement of this transaction whose answer nobody waits for: the commit is sent right behind it. When it
   * fails, nothing is committed and `atomically` throws its error.
   */
  alongside(statement: Promise<unknown>): void
  /** While `work` runs, no other member of a shared transaction is in a turn of its own. At once where it is not shared. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Not called when the transaction is rolled back. Must not throw. */
  onCommitted(act: () => void): void
}

/** What a store works on: the database itself or an open transaction. */
export type Executor = { withTables<Tables>(): Kysely<Tables>; readonly manyRows: RunRows }

export type Migration = {
  /** `0001-accounts`; applied in order of names, each once, in a transaction of its own. */
  name: string
  up(db: Kysely<unknown>, schema: SchemaTools): Promise<void>
}

/** What migrations need beyond the portable subset; each dialect has its own way. */
export type SchemaTools = {
  /**
   * The database itself refuses every UPDATE of `table`, and every DELETE of a row whose `timeColumn` is not
   * below `sweep_before` of the one row in table `guard`. Both tables exist already; `guard` has the text
   * column `sweep_before`, null while no sweep runs.
   */
  makeAppendOnly(table: string, timeColumn: string, guard: string): Promise<void>
  /**
   * Rows of `table` change often: where a page keeps room for that, `percent` of it, a change of columns that are in
   * no index stays beside the row and costs its indexes nothing.
   */
  keepRoom(table: string, percent: number): Promise<void>
}

/** What `/health` shows. */
export type MigrationState = { applied: number; expected: number; first_pending: string | null }

/** The database was migrated by a later version of Roost. */
export class NewerSchemaError extends Error {
  readonly unknown: string[]
  constructor(unknown: string[]) {
    super(
      `The database has a newer schema than this version of Roost knows (${unknown.join(', ')}): start the newer version.`,
    )
    this.name = 'NewerSchemaError'
    this.unknown = unknown
  }
}
