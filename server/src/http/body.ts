import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { validationFault } from './problem.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Levels of arrays and objects in a body. No shape needs a tenth; what walks or writes values recurses. */
const deepest = 100

/** The body as the endpoint wants it: parsed, checked, typed. Throws the 422 that names what is wrong. */
export function readBody(
  endpoint: Endpoint,
  bytes: Buffer | undefined,
  contentType: string | undefined,
): unknown {
  if (endpoint.bodyKind === 'raw') return bytes ?? Buffer.alloc(0)
  if (!endpoint.body) return undefined
  const value =
    endpoint.bodyKind === 'form'
      ? parseForm(bytes, contentType)
      : parseJson(bytes, endpoint.bodyOptional ?? false)
  const result = endpoint.body.safeParse(value)
  if (!result.success) throw validationFault('body', result.error)
  return result.data
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
