import { hidden, isSecretKey, redactText } from '@roost/contracts/kit/redact'
import { type DestinationStream, pino } from 'pino'

/** Structured logs: one JSON object per line. The first argument has the fields, the second the message. */
export type Log = {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
  /** Returns a log that adds `fields` to every line. */
  child(fields: Record<string, unknown>): Log
  /** Allows callers to skip building unused fields. */
  isDebug(): boolean
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogOptions = {
  level: LogLevel
  /** Destination of lines; standard output by default. */
  destination?: DestinationStream
}

/**
 * Opens the log of one process. Masks secrets in everything logged: values under secret names and texts in
 * the form of a secret become `[secret]`. Errors are logged with class, message, stack and causes.
 */
export function createLog(options: LogOptions): Log {
  const root = pino(
    {
      level: options.level,
      base: null,
      // `redactFields` converts errors; pino would write unknown fields.
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

/** Converts `fields` to plain JSON and masks secrets by name and form, at any depth. */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  // The value of an object is an object.
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

const maxDepth = 6
/** Limit for each text in a line; a stack has a tenth of that. */
const maxTextLength = 32_768

function lineText(text: string): string {
  if (text.length <= maxTextLength) return redactText(text)
  return `${redactText(text.slice(0, maxTextLength).toWellFormed())} [${text.length - maxTextLength} characters omitted]`
}

function redactValue(value: unknown, depth: number, parents: Set<object>): unknown {
  if (typeof value === 'string') return lineText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.toISOString()
  if ('reveal' in value && typeof value.reveal === 'function') return hidden
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (depth >= maxDepth) return '[deep]'
  if (parents.has(value)) return '[circular]'
  parents.add(value)
  try {
    if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1, parents))
    const entries = value instanceof Error ? errorEntries(value) : Object.entries(value)
    return Object.fromEntries(
      entries.map(([key, item]) => [
        key,
        isSecretKey(key) && (typeof item === 'string' || typeof item === 'object')
          ? item === null || item === ''
            ? item
            : hidden
          : redactValue(item, depth + 1, parents),
      ]),
    )
  } finally {
    parents.delete(value)
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
