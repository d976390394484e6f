import type { DatabaseCopies } from './port.ts'
import { postgresCopies } from './postgres.ts'
import { sqliteCopies } from './sqlite.ts'

/** Opens copies for `sqlite:<path>` and `postgres://…`; `path` is the search path for programs. */
export function openDatabaseCopies(url: string, { path }: { path: string }): DatabaseCopies {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  return file === undefined ? postgresCopies(url, path) : sqliteCopies(file)
}
