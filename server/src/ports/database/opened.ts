import type { Dialect } from 'kysely'

/** The adapter's objects for an opened database. */
export type Opened = {
  dialect: Dialect
  /** Closes the connections; no more queries follow. */
  close(): Promise<void>
}
