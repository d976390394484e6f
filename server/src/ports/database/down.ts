import { DatabaseDown } from './port.ts'

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

/** The fault of a client of the database, named when it is the database that cannot be reached. */
export function namedFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const isDown = sqlStates.test(code) || systemCodes.includes(code) || words.test(error.message)
  return isDown ? new DatabaseDown(error) : error
}
