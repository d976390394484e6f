import { Readable } from 'node:stream'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { defaultBodyLimit } from '@roost/contracts/kit/primitives'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../identity/access/caller.ts'
import { Fault } from '../kit/fault.ts'
import { readBody, refuseNul } from './body.ts'
import type { Admitted, Guard } from './guard.ts'
import { validationFault } from './problem.ts'
import type { Answer, RequestFacts, Route, StreamAnswer } from './route.ts'

/** What is known of a request besides what the framework keeps; `audit.ts` reads it after the reply. */
export type RequestState = {
  endpoint: Endpoint | null
  caller: Caller | null
  admitted: Admitted | null
  notes: Record<string, unknown>
  /** Made when a handler asks for its signal: most requests end before anybody would listen. */
  signal(): AbortSignal
  errorCode: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    roost: RequestState
  }
}

export type BindOptions = {
  guard: Guard
  /** Checks replies against the endpoint's shape: on in tests, off in production where it only costs. */
  checkReplies: boolean
}

/** Makes the endpoint of a route answer on `app`. */
export function bindRoute(app: FastifyInstance, { endpoint, handle }: Route, options: BindOptions): void {
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    bodyLimit: endpoint.bodyLimit ?? defaultBodyLimit,
    onRequest: async (request) => {
      const state = request.roost
      state.endpoint = endpoint
      const params = request.params as Record<string, string>
      if (Object.values(params).some((value) => value.includes('\0'))) throw new Fault('not_found')
      state.admitted = await options.guard(
        endpoint.access,
        request.headers.authorization,
        params.name,
        (caller) => {
          state.caller = caller
        },
      )
    },
    handler: async (request, reply) => {
      const call = {
        params: parsePart(endpoint.params, request.params, 'path'),
        query: parseQuery(endpoint, request.query),
        body: readBody(endpoint, request.body as Buffer | undefined, request.headers['content-type']),
        ...request.roost.admitted,
        request: factsOf(request),
      }
      const result = await handle(call as never)
      return send(reply, endpoint, result, options.checkReplies)
    },
  })
}

function parsePart(schema: Endpoint['params'], value: unknown, part: 'path' | 'query'): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (!result.success) throw validationFault(part, result.error)
  return result.data
}

function parseQuery(endpoint: Endpoint, query: unknown): unknown {
  if (!endpoint.query) return undefined
  refuseNul(query, ['query'])
  return parsePart(endpoint.query, query, 'query')
}

function factsOf(request: FastifyRequest): RequestFacts {
  const state = request.roost
  return {
    id: request.id,
    ip: request.ip,
    method: request.method,
    path: request.url.split('?', 1)[0] ?? request.url,
    header: (name) => {
      const value = request.headers[name.toLowerCase()]
      return Array.isArray(value) ? value.join(', ') : value
    },
    get signal() {
      return state.signal()
    },
    note: (details) => Object.assign(state.notes, details),
  }
}

function send(reply: FastifyReply, endpoint: Endpoint, result: unknown, checkReplies: boolean): FastifyReply {
  if (isStream(result)) {
    reply.code(result.status ?? endpoint.status ?? 200).headers(result.headers ?? {})
    reply.type(result.contentType)
    const body =
      result.body instanceof Readable ? result.body : Readable.from(result.body, { objectMode: false })
    return reply.send(body)
  }
  const { body, status, headers } = isAnswer(result)
    ? result
    : { body: result, status: undefined, headers: undefined }
  reply.code(status ?? endpoint.status ?? 200)
  if (headers) reply.headers(headers)
  if (body === undefined) return reply.send()
  if (body instanceof Uint8Array) return reply.send(body)
  if (checkReplies && endpoint.returns) endpoint.returns.parse(body)
  reply.type('application/json; charset=utf-8')
  return reply.send(typeof body === 'string' ? body : JSON.stringify(body))
}

function isStream(value: unknown): value is StreamAnswer {
  return (
    typeof value === 'object' &&
    value !== null &&
    'stream' in value &&
    value.stream === true &&
    'contentType' in value
  )
}

function isAnswer(value: unknown): value is Answer {
  return (
    typeof value === 'object' &&
    value !== null &&
    'answer' in value &&
    value.answer === true &&
    'body' in value
  )
}
