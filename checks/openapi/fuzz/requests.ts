/** Requests for an operation: valid, with one invalid part, or with several. */
import type { Json, Operation, Parameter } from '../document.ts'
import type { Random } from './random.ts'
import type { Things } from './things.ts'
import type { Values } from './values.ts'

export type Manner = 'fitting' | 'broken' | 'strange'
export const manners: readonly Manner[] = ['fitting', 'broken', 'strange']

export type Request = {
  method: string
  /** Encoded, with the query. */
  path: string
  params: Record<string, string>
  headers: Record<string, string>
  body: string | null
}

type Deps = { random: Random; values: Values; things: Things }

/** Path segments. Never empty, `.` or `..`: these lead to another operation. */
const strangeSteps = [
  '%00',
  '%2F',
  '%2e%2e%2f',
  '%E0%A4%A',
  'UPPER',
  'a b',
  '{name}',
  '漢字',
  '-1',
  'null',
  `${'a'.repeat(300)}`,
  `${'a'.repeat(5000)}`,
]
const strangeTexts = ['', ' ', '-1', '1e3', 'null', 'a\u0000b', '漢', '[]', '%', 'x'.repeat(2000)]
const strangeHeaders: Record<string, string[]> = {
  'X-Request-ID': ['not an id', 'x'.repeat(200)],
  'Idempotency-Key': ['x'.repeat(4000), '{}'],
  Prefer: ['wait=0, return=minimal', 'wait=-1', ';;,=', 'respond-async'],
  'Last-Event-ID': ['-1', 'abc', '99999999999'],
  Range: ['bytes=0-0', 'bytes=9-1', 'bytes=-', 'lines=1-2'],
  'Content-Type': ['text/plain', 'application/json; charset=utf-16', ';;', 'application/xml'],
  Accept: ['application/json', 'text/event-stream', 'image/png', 'nonsense'],
}

export function createRequests({ random, values, things }: Deps) {
  return (operation: Operation, manner: Manner): Request => {
    const part = random.pick(['path', 'query', 'headers', 'body'] as const)
    const isStrange = (place: typeof part) =>
      manner === 'strange' ? random.chance(0.5) : manner === 'broken' && part === place
    const params = things.paramsFor(operation)
    const named = parametersIn(operation, 'path')
    for (const { name, schema } of named)
      if (manner === 'fitting' && schema.type === 'string' && (schema.enum || schema.pattern))
        params[name] = String(values.fitting(schema, name))
    const steps = { ...encoded(params), ...(isStrange('path') ? oneStrangeStep(Object.keys(params)) : {}) }
    const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => steps[name] ?? 'x')
    const query = queryOf(operation, isStrange('query'))
    const body = bodyOf(operation, isStrange('body'))
    return {
      method: operation.method,
      path: query === '' ? path : `${path}?${query}`,
      params,
      headers: headersOf(operation, isStrange('headers'), body?.type),
      body: body?.text ?? null,
    }
  }

  function oneStrangeStep(names: string[]): Record<string, string> {
    return names.length === 0 ? {} : { [random.pick(names)]: encodeLoose(random.pick(strangeSteps)) }
  }

  function queryOf(operation: Operation, isStrange: boolean): string {
    const query = new URLSearchParams()
    const named = parametersIn(operation, 'query')
    for (const { name, required, schema } of named) {
      if (!required && !random.chance(0.5)) continue
      for (const value of [values.fitting(schema, name)].flat()) query.append(name, String(value))
    }
    if (!isStrange) return query.toString()
    const name = named.length > 0 && random.chance(0.8) ? random.pick(named).name : 'unknown'
    if (random.chance(0.2)) query.append(name, 'again')
    else query.set(name, random.pick(strangeTexts))
    return query.toString()
  }

  function headersOf(
    operation: Operation,
    isStrange: boolean,
    type: string | undefined,
  ): Record<string, string> {
    const names = parametersIn(operation, 'header').map(({ name }) => name)
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
    // No request waits for the end of a run.
    if (names.includes('Prefer')) headers.Prefer = 'wait=0'
    if (names.includes('Idempotency-Key') && random.chance(0.3))
      headers['Idempotency-Key'] = `key-${random.integer(1, 50)}`
    if (!isStrange) return headers
    const name = random.pick([...names, 'Accept', ...(type === undefined ? [] : ['Content-Type'])])
    const value = random.pick(strangeHeaders[name] ?? ['x', '', 'x'.repeat(1000)])
    return name === 'Prefer' && !value.includes('wait=0') ? headers : { ...headers, [name]: value }
  }

  function bodyOf(operation: Operation, isStrange: boolean) {
    const { requestBody, method } = operation
    if (!requestBody) {
      if (method === 'GET' || !isStrange) return null
      return { text: random.pick(['{}', '{"extra":1}', 'x', '[]']), type: 'application/json' }
    }
    const [type = '', { schema = {} } = {}] = Object.entries(requestBody.content)[0] ?? []
    if (!requestBody.required && random.chance(0.3)) return null
    if (type === 'multipart/form-data') return multipart(isStrange)
    if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded')
      return { text: random.pick(['', 'x', '\u0089PNG\r\n']), type }
    if (isStrange && random.chance(0.15)) return { text: brokenText(), type }
    const value = isStrange ? values.breaking(schema) : values.fitting(schema)
    if (type === 'application/json') return { text: JSON.stringify(value) ?? '', type }
    return { text: new URLSearchParams(texts(value)).toString(), type }
  }

  function multipart(isStrange: boolean) {
    const line = 'boundary0123'
    const name = isStrange ? random.pick(['../x', '', 'a\u0000', 'x'.repeat(500)]) : 'notes.txt'
    const head = `--${line}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
    const text = isStrange && random.chance(0.5) ? head : `${head}hello\r\n--${line}--\r\n`
    return { text, type: `multipart/form-data; boundary=${line}` }
  }

  function brokenText(): string {
    return random.pick([
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '[[[['.repeat(200),
      `{"a":${'['.repeat(50)}`,
      '\ufeff{}',
      'NaN',
    ])
  }
}

function parametersIn({ parameters }: Operation, place: Parameter['in']): Parameter[] {
  return parameters.filter((each) => each.in === place)
}

function encoded(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, encodeURIComponent(value.toWellFormed())]),
  )
}

/** Leaves encoded segments unchanged. */
function encodeLoose(step: string): string {
  return step.startsWith('%') ? step : encodeURIComponent(step)
}

function texts(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { text: String(value) }
  return Object.fromEntries(
    Object.entries(value as Json).map(([name, inner]) => [name, String(inner).toWellFormed()]),
  )
}
