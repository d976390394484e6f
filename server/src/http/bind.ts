import { Readable } from 'node:stream'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { defaultBodyLimit } from '@roost/contracts/kit/primitives'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../identity/access/caller.ts'
import { Fault } from '../kit/fault.ts'
import type { AccessRevocation } from './access-revocation.ts'
import { readBody, readObject, readQuery } from './body.ts'
import { refuseUndeclaredHeader, refuseUndeclaredReply } from './documented.ts'
import type { Admitted, Guard } from './guard.ts'
import { validationFault } from './problem.ts'
import { type Actor, type Answer, answer, type RequestFacts, type Route, type StreamAnswer } from './route.ts'

/** What is known of a request besides what the framework keeps; `audit.ts` reads it after the reply. */
export type RequestState = {
  endpoint: Endpoint | null
  caller: Caller | null
  admitted: Admitted | null
  notes: Record<string, unknown>
  /** Whom the handler has found the call to be from, where no credential says so. */
  actor: Actor | null
  /** Made when a handler asks for its signal: most requests end before anybody would listen. */
  signal(): AbortSignal
  errorCode: string | null
  /** Losses of access before the caller was admitted; see `Standing`. */
  revocationEpoch: number
  /** Why the caller, who was admitted, is not any more; null while it is. */
  lostBy: Fault | null
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
  /** Ends replies to callers who lose their access on the way; without it they go on to their end. */
  accessRevocation?: AccessRevocation
}

/** Makes the endpoint of a route answer on `app`. */
export function bindRoute(
  app: FastifyInstance,
  { endpoint, handle, admit }: Route,
  options: BindOptions,
): void {
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    bodyLimit: endpoint.bodyLimit ?? defaultBodyLimit,
    onRequest: async (request, reply) => {
      const state = request.roost
      state.endpoint = endpoint
      state.revocationEpoch = options.accessRevocation?.revocationEpoch() ?? 0
      const params = request.params as Record<string, string>
      // Clients resolve an id of `..` by themselves: what remains is the address of the whole, with a slash.
      if (request.method === 'DELETE' && pathOf(request).endsWith('/')) throw new Fault('not_found')
      if (Object.values(params).some((value) => value.includes('\0'))) throw new Fault('not_found')
      const { authorization } = request.headers
      state.admitted = await options.guard(endpoint.access, authorization, params.name, (caller) => {
        state.caller = caller
      })
      state.signal = signalOf(request, reply, endpoint, options)
      await admit?.({ caller: state.admitted.caller, params })
    },
    handler: async (request, reply) => {
      const params = parseParams(endpoint.params, request.params)
      const query = readQuery(endpoint, request.query)
      const bytes = request.body as Buffer | undefined
      const call = {
        params,
        query,
        body: readBody(endpoint, bytes, request.headers['content-type'], query),
        ...request.roost.admitted,
        request: new Facts(request, options.checkReplies),
      }
      const result = await handle(call as never).catch((error: unknown) => {
        refuseLost(request)
        throw error
      })
      // A stream of events says itself how it ends; half a document would be all that is left to say.
      if (!isStream(result) || result.contentType.startsWith('application/json')) refuseLost(request)
      return send(reply, endpoint, result, options.checkReplies)
    },
  })
}

/** Aborts when the client goes away, and when it may not have the rest of its reply. */
function signalOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { access }: Endpoint,
  { accessRevocation, guard }: BindOptions,
): () => AbortSignal {
  const state = request.roost
  const closed = state.signal
  if (!accessRevocation || !state.admitted || state.admitted.caller.kind === 'anonymous') return closed
  const { caller, agent } = state.admitted
  let made: AbortSignal | null = null
  return () => {
    if (made) return made
    const lost = new AbortController()
    const admission = {
      caller,
      agent,
      ask: (name: string | undefined) => guard(access, request.headers.authorization, name, () => {}),
      end(why: unknown) {
        state.lostBy = why instanceof Fault ? why : new Fault('agent_not_found')
        lost.abort()
      },
    }
    const leave = accessRevocation.watch(admission, state.revocationEpoch)
    reply.raw.once('close', leave)
    if (reply.raw.destroyed) leave()
    made = AbortSignal.any([closed(), lost.signal])
    return made
  }
}

/** An answer that was waited for and may not be had any more. */
function refuseLost({ roost }: FastifyRequest): void {
  if (roost.lostBy) throw roost.lostBy
}

function parseParams(schema: Endpoint['params'], value: unknown): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (!result.success) throw validationFault('path', result.error)
  return result.data
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}

/**
 * A class for its one getter: of a literal with a getter, V8 makes a new shape for each request, which keeps the request
 * and its reply until all memory is marked (`left-behind.test.ts`).
 */
class Facts implements RequestFacts {
  readonly id: string
  readonly ip: string
  readonly method: string
  readonly path: string
  readonly #request: FastifyRequest
  readonly #isChecked: boolean

  constructor(request: FastifyRequest, isChecked: boolean) {
    this.id = request.id
    this.ip = request.ip
    this.method = request.method
    this.path = pathOf(request)
    this.#request = request
    this.#isChecked = isChecked
  }

  get signal(): AbortSignal {
    return this.#request.roost.signal()
  }

  readonly readObject = readObject

  readonly header = (name: string): string | undefined => {
    const { endpoint } = this.#request.roost
    if (this.#isChecked && endpoint) refuseUndeclaredHeader(endpoint, name)
    const value = this.#request.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  readonly note = (details: Record<string, unknown>): void => {
    Object.assign(this.#request.roost.notes, details)
  }

  readonly actedBy = (actor: Actor): void => {
    this.#request.roost.actor = actor
  }

  readonly calledBy = (caller: Caller): void => {
    this.#request.roost.caller = caller
  }
}

function send(reply: FastifyReply, endpoint: Endpoint, result: unknown, checkReplies: boolean): FastifyReply {
  const given = isStream(result) || isAnswer(result) ? result : answer(result)
  const { status = endpoint.status ?? 200, headers = {} } = given
  const contentType = isStream(given) ? given.contentType : headers['content-type']
  if (checkReplies) refuseUndeclaredReply(endpoint, { status, headers, contentType, body: given.body })
  reply.code(status).headers(headers)
  if (isStream(given)) {
    reply.type(given.contentType)
    const { body } = given
    return reply.send(body instanceof Readable ? body : Readable.from(body, { objectMode: false }))
  }
  const { body } = given
  if (body === undefined) return reply.send()
  if (body instanceof Uint8Array) return reply.send(body)
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
