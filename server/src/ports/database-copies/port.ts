/** A copy cannot be made or put back; the message says what to do. */
export class CopyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CopyError'
  }
}

/** Whole databases as files: made while the platform works, and put back into an empty database. */
export type DatabaseCopies = {
  dialect: 'sqlite' | 'postgres'
  /** Everything as it was at one moment, written to a new file. Throws `CopyError`. */
  copyTo(file: string): Promise<void>
  /** Throws `CopyError` when there is something in the database already. */
  refuseFull(): Promise<void>
  /** Takes the file. All of it is there afterwards, or nothing. Throws `CopyError`. */
  restoreFrom(file: string): Promise<void>
}
