/** Writes one JSON line per message, like every process of the platform. */
export type Log = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export function createLog(write: (line: string) => void, now: () => Date): Log {
  const at = (level: string) => (fields: object, message: string) => {
    write(
      `${JSON.stringify({ time: now().toISOString(), level, process: 'mcp', msg: message, ...fields })}\n`,
    )
  }
  return { info: at('info'), warn: at('warn') }
}

/** Returns the loggable fields of an error, without its cause, which may contain a credential. */
export function errorFields(error: unknown): object {
  return error instanceof Error
    ? { err: { name: error.name, message: error.message } }
    : { err: String(error) }
}
