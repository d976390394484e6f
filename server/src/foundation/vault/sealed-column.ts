/** A column of the database with sealed text. Each feature exports its own; the key rotation reads all of them. */
export type SealedColumn = {
  table: string
  /** Null values stay null. */
  column: string
  /** Names of the columns of the primary key. */
  key: readonly string[]
  /** Names of other columns that the context needs. */
  reads?: readonly string[]
  /** Returns the context of a row with the columns of `key` and `reads`. */
  context(row: Record<string, string>): string
}
