import { DatabaseDown, DatabaseFull } from './port.ts'

/** SQLSTATEs by which a server says that it goes, comes, or takes nobody now; class 08 is the connection's own. */
const sqlStates = /^(?:08...|57P0[123]|53300)$/
const systemCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ENOENT',
]
/** What the client library says without a code. */
const words =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error|^Cannot use a pool after/

/** Disk full; SQLite's own number for it is in another field. */
const sqlStateFull = '53100'
const sqliteFull = 13

/** The fault of a client of the database, named when it is the database that cannot be reached or has no room. */
export function namedFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === sqlStateFull || sqliteCode(error) === sqliteFull) return new DatabaseFull(error)
  const isDown = sqlStates.test(code) || systemCodes.includes(code) || words.test(error.message)
  return isDown ? new DatabaseDown(error) : error
}

/** The number of SQLite without what its extended codes add; null for another fault. */
export function sqliteCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
}
