import { DatabaseDown, DatabaseFull } from './port.ts'

/** SQLSTATEs of a server that is stopping, starting or full of connections; class 08 is connection errors. */
const sqlStates = /^(?:08...|57P0[123]|53300)$/
const systemCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ENOENT',
]
/** Messages of the client library that have no code. */
const messages =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error|^Cannot use a pool after/

/** Disk full; SQLite has its own number in another field. */
const sqlStateFull = '53100'
const sqliteFull = 13

/** Converts a client error to `DatabaseDown` or `DatabaseFull` if it matches; returns others unchanged. */
export function namedFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === sqlStateFull || sqliteCode(error) === sqliteFull) return new DatabaseFull(error)
  const isDown = sqlStates.test(code) || systemCodes.includes(code) || messages.test(error.message)
  return isDown ? new DatabaseDown(error) : error
}

/** Returns SQLite's primary error code; null for other errors. */
export function sqliteCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
}
