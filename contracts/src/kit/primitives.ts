import { z } from 'zod'

/** Names of agents and templates: lowercase, digits, hyphen and underscore, 1 to 63 characters. */
export const agentNamePattern = /^[a-z0-9][a-z0-9_-]{0,62}$/
export const AgentName = z
  .string()
  .regex(
    agentNamePattern,
    'must be 1 to 63 characters: lowercase letters, digits, "-" and "_", starting with a letter or digit',
  )

/** UTC ISO 8601 with milliseconds and `Z`. */
export const Timestamp = z.string().meta({ format: 'date-time' })
/** A time in a request: ISO 8601 with any offset, UTC by default. Parses to a `Timestamp`. */
export const TimestampInput = z.iso
  .datetime({ offset: true, local: true, error: 'must be an ISO 8601 date and time' })
  .transform((text) => new Date(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`).toISOString())
  .refine((text) => text.length === 24, 'must be in the years 0 to 9999')
export const Id = z.string().min(1).max(64)
/** US dollars as a JSON number. */
export const Money = z.number()

/** The path parameter of every agent-scoped route. Any string: an unknown name is a 404, not a 422. */
export const AgentParams = z.object({ name: z.string() })

/** An integer in a query string. The documentation shows the type at the end of the pipe. */
export function queryInteger(minimum: number, maximum: number, fallback: number) {
  return z
    .string()
    .regex(/^-?\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.number().int().min(minimum).max(maximum))
    .default(fallback)
}

/** `true`, `1`, `false` or `0` in a query string. The documentation shows the type at the end of the pipe. */
export function queryBoolean(fallback: boolean) {
  return z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .pipe(z.boolean())
    .default(fallback)
}

export const megabyte = 1024 * 1024
/** Limit for JSON bodies of ordinary routes. */
export const defaultBodyLimit = megabyte
/** Limit for bodies of chat, task, fan-out, session and Workspace messages. */
export const messageBodyLimit = 24 * megabyte
/** Limit for the values of JSON bodies of ordinary routes. Large bodies have few values: long strings. */
export const defaultMaxValues = 50_000
