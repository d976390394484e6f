import { type Endpoint, isStrict } from '@roost/contracts/kit/endpoint'
import type { ValidationIssue } from '@roost/contracts/kit/errors'
import { fieldNames } from '@roost/contracts/kit/in-query'
import type { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { validationFault } from './problem.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Levels of arrays and objects in a body. No shape needs a tenth; what walks or writes values recurses. */
const deepest = 100

/** The query as the endpoint wants it: checked, typed. Throws the 422 that names what is wrong. */
export function readQuery(endpoint: Endpoint, value: unknown): unknown {
  if (isStrict(endpoint)) refuseUnknown(endpoint.query, value, 'query')
  if (!endpoint.query) return undefined
  refuseUnkeepable(value, ['query'])
  const result = endpoint.query.safeParse(value)
  if (!result.success) throw validationFault('query', result.error)
  return result.data
}

/**
 * The body as the endpoint wants it: parsed, checked, typed. A strict endpoint takes what the body leaves out, or has
 * as null, from `query`. Throws the 422 that names what is wrong.
 */
export function readBody(
  endpoint: Endpoint,
  bytes: Buffer | undefined,
  contentType: string | undefined,
  query?: unknown,
): unknown {
  if (endpoint.bodyKind === 'raw') return bytes ?? Buffer.alloc(0)
  if (!endpoint.body && !isStrict(endpoint)) return undefined
  const value =
    endpoint.bodyKind === 'form'
      ? parseForm(bytes, contentType)
      : parseJson(bytes, endpoint.bodyOptional ?? !endpoint.body)
  if (!isStrict(endpoint)) return checked(endpoint.body, value, new Set())
  refuseUnknown(endpoint.body, value, 'body')
  const inQuery = Object.entries(query ?? {}).filter(
    ([name, given]) => given !== undefined && isObject(value) && value[name] == null,
  )
  const whole = isObject(value) ? { ...value, ...Object.fromEntries(inQuery) } : value
  return checked(endpoint.body, whole, new Set(inQuery.map(([name]) => name)))
}

/** `inQuery`: names of the fields that came in the query, so that the refusal names their place. */
function checked(schema: Endpoint['body'], value: unknown, inQuery: ReadonlySet<unknown>): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const fault = validationFault('body', result.error)
  // Written by `validationFault`.
  for (const { loc } of fault.fields.issues as ValidationIssue[]) if (inQuery.has(loc[1])) loc[0] = 'query'
  throw fault
}

/** A misspelt filter must not widen a call that discards something or acts on many things. */
function refuseUnknown(schema: z.ZodType | undefined, value: unknown, part: 'query' | 'body'): void {
  const known = fieldNames(schema)
  if (!known) return
  if (!isObject(value)) {
    if (schema) return
    throw new Fault('validation_error', undefined, {
      issues: [{ loc: [part], msg: 'must be empty or a JSON object', type: 'value_error' }],
    })
  }
  const issues = Object.keys(value)
    .filter((name) => !known.has(name))
    .slice(0, mostNamed)
    .map((name) => ({ loc: [part, name], msg: unknownName(known), type: 'extra_forbidden' }))
  if (issues.length > 0) throw new Fault('validation_error', undefined, { issues })
}

/** Unknown names that one refusal lists. */
const mostNamed = 50

function unknownName(known: ReadonlySet<string>): string {
  if (known.size === 0) return 'is not a field of this request, which takes none'
  return `is not a field of this request, which takes ${[...known].join(', ')}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A `raw` body, once its bytes were looked at, as a JSON object. Throws `invalid_json`, `validation_error`. */
export function readObject<T extends z.ZodType>(schema: T, bytes: Uint8Array): z.output<T> {
  const value = parseJson(Buffer.from(bytes), false)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('invalid_json', 'The body is not a JSON object.')
  }
  const result = schema.safeParse(value)
  if (!result.success) throw validationFault('body', result.error)
  return result.data
}

/**
 * JSON whatever the content type says: no route reads a credential from a cookie, so a cross-site form
 * gains nothing, and a missing header should not cost a caller an evening.
 */
function parseJson(bytes: Buffer | undefined, optional: boolean): unknown {
  if (!bytes || bytes.length === 0) {
    if (optional) return {}
    throw new Fault('invalid_json', 'A JSON body is needed, and this request has none.')
  }
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Fault('invalid_json', 'The body is not valid JSON in UTF-8.')
  }
  refuseUnkeepable(value, ['body'])
  return value
}

function parseForm(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  if (!contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    const msg = 'must be form-encoded (Content-Type: application/x-www-form-urlencoded)'
    throw new Fault('validation_error', undefined, { issues: [{ loc: ['body'], msg, type: 'form_type' }] })
  }
  const value = Object.fromEntries(new URLSearchParams(bytes?.toString('utf8') ?? ''))
  refuseUnkeepable(value, ['body'])
  return value
}

/** Values in a body: more than the largest report has. Each costs time in which nobody else is answered. */
const mostValues = 3_000_000

/**
 * U+0000 and a lone surrogate are valid JSON but no text that a database keeps as it came, so they are refused by
 * name before they get there; likewise nesting that would exhaust the stack of whatever reads the value next, and
 * more values than are read in passing.
 */
export function refuseUnkeepable(value: unknown, loc: (string | number)[]): void {
  walk(value, loc, { left: mostValues })
}

function walk(value: unknown, loc: (string | number)[], values: { left: number }): void {
  values.left -= 1
  if (values.left < 0) refuse(loc.slice(0, 1), `must not hold more than ${mostValues} values`)
  if (typeof value === 'string') refuseText(value, loc)
  if (typeof value !== 'object' || value === null) return
  // The outermost value's place is one step long already: `body` or `query`.
  if (loc.length > deepest) refuse(loc.slice(0, 1), `must not be nested deeper than ${deepest} levels`)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, [...loc, index], values)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    const place = [...loc, key]
    refuseText(key, place)
    walk(item, place, values)
  }
}

function refuseText(text: string, loc: (string | number)[]): void {
  if (text.includes('\0')) refuse(loc, 'must not contain the character U+0000')
  if (!text.isWellFormed()) refuse(loc, 'must be whole characters: one half of a surrogate pair stands alone')
}

function refuse(loc: (string | number)[], msg: string): never {
  throw new Fault('validation_error', undefined, { issues: [{ loc, msg, type: 'value_error' }] })
}
