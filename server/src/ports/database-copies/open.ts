import type { DatabaseCopies } from './port.ts'
import { postgresCopies } from './postgres.ts'
import { sqliteCopies } from './sqlite.ts'

/** For `sqlite:<path>` and `postgres://…`, as the platform itself opens them; `path` is where programs are. */
export function openDatabaseCopies(url: string, { path }: { path: string }): DatabaseCopies {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  return file === undefined ? postgresCopies(url, path) : sqliteCopies(file)
}
