import { type DestinationStream, pino } from 'pino'

/** Structured logs: one JSON object per line. The first argument carries fields, the second the sentence. */
export type Log = {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
  /** A log that adds `fields` to every line. */
  child(fields: Record<string, unknown>): Log
  /** Saves building fields that nobody would read. */
  isDebug(): boolean
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogOptions = {
  level: LogLevel
  /** Where lines go; the standard output when absent. */
  destination?: DestinationStream
}

/**
 * Opens the log of one process. Whatever is handed in, secrets are not written: values under keys that name
 * a secret and texts shaped like one become `[secret]`. An error is written with its class, message, stack
 * and causes.
 */
export function createLog(options: LogOptions): Log {
  const root = pino(
    {
      level: options.level,
      base: null,
      // Errors are made plain by `redactFields`; pino's own way would write fields it does not know.
      serializers: { err: (value) => value },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  )
  return wrap(root)
}

/** Writes nothing; for tests. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
  isDebug: () => false,
}

/** `text` with everything that is shaped like a key, a token or a password in a URL blotted out. */
export function redactText(text: string): string {
  return shapes.reduce((out, [shape, put]) => out.replace(shape, put), text)
}

/** `fields` made plain JSON without secrets, by their names and by their shapes, at any depth. */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  // An object stays one.
  return redactValue(fields, 0, new Set()) as Record<string, unknown>
}

type Writer = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'> & {
  child(fields: Record<string, unknown>): Writer
}

function wrap(writer: Writer): Log {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => {
    return (fields: Record<string, unknown>, message: string) => {
      if (writer.isLevelEnabled(level)) writer[level](redactFields(fields), lineText(message))
    }
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => wrap(writer.child(redactFields(fields))),
    isDebug: () => writer.isLevelEnabled('debug'),
  }
}

const hidden = '[secret]'
const secretKeys =
  /(secret|password|passwd|token|authorization|cookie|credential|api[-_]?key|apikey|private[-_]?key|encryption[-_]?key|signature|sealed)/i
/** Names that hold one of the words above and no secret. */
const plainKeys = /(_tokens?|^tokens|_count|_id|_ids|_name|_type|_state|_path|_seconds)$/i

/**
 * What repeats before something that must follow has a bound, longer than any that is real: a text that only begins like
 * a secret, over and over, would take the square of its length, and everybody waits for it.
 */
const shapes: [RegExp, string][] = [
  [/\bsvc_[a-z]+_[A-Za-z0-9_-]{8,}/g, hidden],
  [/\bwhsec_[A-Za-z0-9_+/=-]{8,}/g, hidden],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, hidden],
  [/\beyJ[A-Za-z0-9_-]{5,4096}\.[A-Za-z0-9_-]{5,16384}\.[A-Za-z0-9_-]*/g, hidden],
  [/\bAIza[A-Za-z0-9_-]{20,}/g, hidden],
  [/\b(?:gh[a-z]_|github_pat_)[A-Za-z0-9_]{16,}/g, hidden],
  [/\bxox[a-z]-[A-Za-z0-9-]{8,}/g, hidden],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${hidden}@`],
  [/([?&](?:token|ticket|key|api_key|access_token|code|secret)=)[^&\s"']+/gi, `$1${hidden}`],
]

const maxDepth = 6
/** Characters of one text in a line; a stack has a tenth. */
const longestText = 32_768

function lineText(text: string): string {
  if (text.length <= longestText) return redactText(text)
  return `${redactText(text.slice(0, longestText).toWellFormed())} [${text.length - longestText} characters left out]`
}

function redactValue(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return lineText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.toISOString()
  if ('reveal' in value && typeof value.reveal === 'function') return hidden
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (depth >= maxDepth) return '[deep]'
  if (above.has(value)) return '[circular]'
  above.add(value)
  try {
    if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1, above))
    const entries = value instanceof Error ? errorEntries(value) : Object.entries(value)
    return Object.fromEntries(
      entries.map(([key, item]) => [
        key,
        isSecretKey(key) && (typeof item === 'string' || typeof item === 'object')
          ? item === null || item === ''
            ? item
            : hidden
          : redactValue(item, depth + 1, above),
      ]),
    )
  } finally {
    above.delete(value)
  }
}

function errorEntries(error: Error): [string, unknown][] {
  return [
    ['type', error.name],
    ['message', error.message],
    ['stack', error.stack ?? ''],
    ...Object.entries(error).filter(([key]) => key !== 'name'),
    ...(error.cause === undefined ? [] : ([['cause', error.cause]] as [string, unknown][])),
  ]
}

function isSecretKey(key: string): boolean {
  return secretKeys.test(key) && !plainKeys.test(key)
}
