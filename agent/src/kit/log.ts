/** Writes one JSON line per event to standard error, which the container engine collects. */
export type Log = {
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
}
type Fields = Record<string, string | number | boolean | null>

export function createLog(write: (line: string) => void): Log {
  const put = (level: string, message: string, fields: Fields = {}) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, msg: message, ...fields })}\n`)
  return {
    info: (message, fields) => put('info', message, fields),
    warn: (message, fields) => put('warn', message, fields),
  }
}

/** Returns the message of an error without its stack. */
export function faultText(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
