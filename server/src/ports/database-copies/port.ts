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
  /** Throws `CopyError` when the database is not empty. */
  refuseFull(): Promise<void>
  /** Consumes the file and restores it completely or not at all. Throws `CopyError`. */
  restoreFrom(file: string): Promise<void>
}
