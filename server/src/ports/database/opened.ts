import type { Dialect } from 'kysely'

/** What an adapter opened for one database. */
export type Opened = {
  dialect: Dialect
  /** Ends the connections; nothing is being asked any more. */
  close(): Promise<void>
}
