import type { Endpoint } from '../kit/endpoint.ts'
import { type ErrorCode, errorCatalogue, statusOf } from '../kit/errors.ts'
import { failuresOf, generalFailures } from '../kit/failures.ts'
import { errorHeaders, type ReplyHeader } from '../kit/headers.ts'
import type { Json, SchemaWriter } from './schemas.ts'

/** Replies shared by several operations, by the name of their component. */
export type SharedReplies = Map<string, Json>

/** Returns every reply of an endpoint by status: successes, and the errors of `failuresOf`. */
export function repliesOf(endpoint: Endpoint, writer: SchemaWriter, shared: SharedReplies): Json {
  return { ...successes(endpoint, writer), ...failures(endpoint, shared) }
}

function successes(endpoint: Endpoint, writer: SchemaWriter): Json {
  const { status = 200, also = [], returns } = endpoint
  const idempotent: ReplyHeader[] = endpoint.headers?.includes('Idempotency-Key')
    ? ['X-Idempotent-Replay']
    : []
  const headers = headerRefs(['X-Request-ID', ...idempotent, ...(endpoint.replyHeaders ?? [])])
  const success = (description: string, streams: readonly string[], shape: typeof returns) => {
    const content: Json = {}
    for (const type of streams) content[type] = { schema: mediaSchema(type) }
    if (shape) content['application/json'] = { schema: writer.write(shape, 'output') }
    return { description, headers, ...(Object.keys(content).length > 0 ? { content } : {}) }
  }
  const { streams = [] } = endpoint
  return Object.fromEntries([
    [status, success('Success', streams, returns)],
    ...also.map((other) => [
      other.status,
      success(other.when, other.returns ? [] : streams, other.returns ?? returns),
    ]),
  ])
}

/** Returns the schema of a body that is not JSON: text or bytes. */
export function mediaSchema(type: string): Json {
  const isText = type.startsWith('text/') || /^application\/x-(ndjson|www-form-urlencoded)$/.test(type)
  const note = noteOf[type]
  const bytes = { type: 'string', format: 'binary' }
  if (type === 'multipart/form-data') return { type: 'object', additionalProperties: bytes }
  if (isText) return { type: 'string', ...(note ? { description: note } : {}) }
  return bytes
}
const noteOf: Record<string, string> = {
  'text/event-stream': 'Server-sent events; the `data` of each is one JSON object.',
  'application/x-ndjson': 'One JSON object in each line.',
}

function failures(endpoint: Endpoint, shared: SharedReplies): Json {
  const general = new Set(generalFailures(endpoint))
  const byStatus = Map.groupBy(failuresOf(endpoint), statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, unordered]) => {
      const codes = unordered.toSorted((one, other) => order.indexOf(one) - order.indexOf(other))
      if (codes.some((code) => !general.has(code)))
        return [status, failure(status, codes, endpoint.replyHeaders)]
      // The name lists the codes, so it never depends on other endpoints.
      const name = codes.map(pascal).join('Or')
      if (!shared.has(name)) shared.set(name, failure(status, codes))
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

const order = Object.keys(errorCatalogue)

function failure(status: number, codes: readonly ErrorCode[], ofSuccess: readonly ReplyHeader[] = []): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code][1]}`).join('\n\n'),
    headers: headerRefs(errorHeaders(status, codes, ofSuccess)),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/ErrorBody' },
            { type: 'object', properties: { error: { type: 'string', enum: codes } } },
          ],
        },
      },
    },
  }
}

function headerRefs(names: readonly ReplyHeader[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export const errorSchema = {
  type: 'object',
  description: 'The body of every error. Some errors have further fields.',
  required: ['detail', 'error', 'request_id'],
  properties: {
    detail: {
      description: 'One sentence; for `validation_error` a list of issues.',
      oneOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/components/schemas/ValidationIssue' } }],
    },
    error: { type: 'string', enum: Object.keys(errorCatalogue) },
    request_id: { type: 'string', description: 'The same value as the header X-Request-ID.' },
    docs_url: {
      type: 'string',
      description: 'Path of a page about this error on the same host, with its cause and what to do.',
    },
  },
  additionalProperties: true,
}

export const issueSchema = {
  type: 'object',
  required: ['loc', 'msg', 'type'],
  properties: {
    loc: {
      type: 'array',
      description: '`body`, `query` or `path`, then the path to the value.',
      items: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    },
    msg: { type: 'string' },
    type: { type: 'string' },
  },
}
