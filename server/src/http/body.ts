import { type Endpoint, isStrict } from '@roost/contracts/kit/endpoint'
import type { ValidationIssue } from '@roost/contracts/kit/errors'
import { fieldNames } from '@roost/contracts/kit/in-query'
import { hasMoreValues } from '@roost/contracts/kit/json-values'
import { defaultMaxValues } from '@roost/contracts/kit/primitives'
import type { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { validationFault } from './problem.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Maximum nesting of a body. Schemas need less than a tenth; code that walks or writes values recurses. */
const maxDepth = 100

/** Returns the validated, typed query. Throws a 422 that names field and rule. */
export function readQuery(endpoint: Endpoint, value: unknown): unknown {
  if (isStrict(endpoint)) refuseUnknown(endpoint.query, value, 'query')
  if (!endpoint.query) return undefined
  refuseUnstorable(value, ['query'])
  const result = endpoint.query.safeParse(value)
  if (!result.success) throw validationFault('query', result.error)
  return result.data
}

/**
 * Returns the parsed, validated, typed body. A strict endpoint takes missing and null fields from `query`.
 * Throws a 422 that names field and rule.
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
      : parseJson(bytes, endpoint.bodyOptional ?? !endpoint.body, endpoint.maxValues)
  if (!isStrict(endpoint)) return validate(endpoint.body, value, new Set())
  refuseUnknown(endpoint.body, value, 'body')
  const inQuery = Object.entries(query ?? {}).filter(
    ([name, given]) => given !== undefined && isObject(value) && value[name] == null,
  )
  const merged = isObject(value) ? { ...value, ...Object.fromEntries(inQuery) } : value
  return validate(endpoint.body, merged, new Set(inQuery.map(([name]) => name)))
}

/** `inQuery`: names of the fields that came from the query, for the location in the error. */
function validate(schema: Endpoint['body'], value: unknown, inQuery: ReadonlySet<unknown>): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const fault = validationFault('body', result.error)
  // Created by `validationFault`.
  for (const { loc } of fault.fields.issues as ValidationIssue[]) if (inQuery.has(loc[1])) loc[0] = 'query'
  throw fault
}

/** Rejects unknown fields: a misspelt filter must not widen a deletion or a bulk action. */
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
    .slice(0, maxListedNames)
    .map((name) => ({ loc: [part, name], msg: unknownName(known), type: 'extra_forbidden' }))
  if (issues.length > 0) throw new Fault('validation_error', undefined, { issues })
}

/** Unknown names listed in one error. */
const maxListedNames = 50

function unknownName(known: ReadonlySet<string>): string {
  if (known.size === 0) return 'is not a field of this request, which takes none'
  return `is not a field of this request, which takes ${[...known].join(', ')}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a `raw` body as a JSON object, after its bytes were checked. Throws `invalid_json`, `validation_error`. */
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
 * Parses JSON with any content type, to accept clients that omit the header. Safe, because no route reads a
 * credential from a cookie, so a cross-site form gains nothing.
 */
function parseJson(bytes: Buffer | undefined, optional: boolean, maxValues = defaultMaxValues): unknown {
  if (!bytes || bytes.length === 0) {
    if (optional) return {}
    throw new Fault('invalid_json', 'A JSON body is needed, and this request has none.')
  }
  if (hasMoreValues(bytes, maxValues)) refuse(['body'], `must not hold more than ${maxValues} values`)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Fault('invalid_json', 'The body is not valid JSON in UTF-8.')
  }
  refuseUnstorable(value, ['body'])
  return value
}

function parseForm(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  if (!contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded')) {
    const msg = 'must be form-encoded (Content-Type: application/x-www-form-urlencoded)'
    throw new Fault('validation_error', undefined, { issues: [{ loc: ['body'], msg, type: 'form_type' }] })
  }
  const value = Object.fromEntries(new URLSearchParams(bytes?.toString('utf8') ?? ''))
  refuseUnstorable(value, ['body'])
  return value
}

/**
 * Throws a 422 for values that cannot be stored or processed. U+0000 and lone surrogates are valid JSON, but
 * databases do not store them unchanged. Deep nesting would exhaust the stack.
 */
export function refuseUnstorable(value: unknown, loc: (string | number)[]): void {
  walk(value, [...loc])
}

/** `loc` is extended in place: a copy for each value would take most of the time. */
function walk(value: unknown, loc: (string | number)[]): void {
  if (typeof value === 'string') refuseText(value, loc)
  if (typeof value !== 'object' || value === null) return
  // The location of the outermost value has one step already: `body` or `query`.
  if (loc.length > maxDepth) refuse(loc.slice(0, 1), `must not be nested deeper than ${maxDepth} levels`)
  const isList = Array.isArray(value)
  for (const [key, item] of isList ? value.entries() : Object.entries(value)) {
    loc.push(key)
    if (!isList) refuseText(String(key), loc)
    walk(item, loc)
    loc.pop()
  }
}

function refuseText(text: string, loc: (string | number)[]): void {
  if (text.includes('\0')) refuse(loc, 'must not contain the character U+0000')
  if (!text.isWellFormed()) refuse(loc, 'must not contain half of a surrogate pair')
}

function refuse(loc: (string | number)[], msg: string): never {
  throw new Fault('validation_error', undefined, { issues: [{ loc, msg, type: 'value_error' }] })
}
