/** One JSON line per message, as every process of the platform writes its log. */
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

/** What a log may hold of an error: never its cause's text, which may carry a credential. */
export function errorFields(error: unknown): object {
  return error instanceof Error
    ? { err: { name: error.name, message: error.message } }
    : { err: String(error) }
}
