/** A copy cannot be created or restored; the message says what to do. */
export class CopyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CopyError'
  }
}

/** Copies whole databases to files while the platform runs, and restores them into an empty database. */
export type DatabaseCopies = {
  dialect: 'sqlite' | 'postgres'
  /** Writes a consistent snapshot to a new file. Throws `CopyError`. */
  copyTo(file: string): Promise<void>
  /** Counts the rows of each table in a file that `copyTo` wrote. Throws `CopyError`. */
  countRows(file: string): Promise<Record<string, number>>
  /** Throws `CopyError` when the database is not empty. */
  refuseFull(): Promise<void>
  /** Consumes the file and restores it completely or not at all. Throws `CopyError`. */
  restoreFrom(file: string): Promise<void>
  /** Reads a copy to its end. Throws `CopyError` for a damaged one. */
  verify(file: string): Promise<void>
  /**
   * Replaces the whole content of the database by a copy, completely or not at all, also when the process is killed.
   * Keeps the file. No platform may use the database. Throws `CopyError`.
   */
  replaceWith(file: string): Promise<void>
  /** The upper bound of the size of a copy in bytes. Throws `CopyError`. */
  sizeBound(): Promise<number>
}
