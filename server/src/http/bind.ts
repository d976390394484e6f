import { Readable } from 'node:stream'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { defaultBodyLimit } from '@roost/contracts/kit/primitives'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../identity/access/caller.ts'
import { Fault } from '../kit/fault.ts'
import type { AccessRevocation } from './access-revocation.ts'
import { readBody, readObject, readQuery } from './body.ts'
import type { BodyBudget } from './body-budget.ts'
import { compressReply } from './compression.ts'
import { refuseUndeclaredHeader, refuseUndeclaredReply } from './documented.ts'
import type { Admitted, Guard } from './guard.ts'
import { validationFault } from './problem.ts'
import { type Actor, type Answer, answer, type RequestInfo, type Route, type StreamAnswer } from './route.ts'
import { uploadOf } from './upload.ts'

/** Request state beyond the framework's own; `audit.ts` reads it after the response. */
export type RequestState = {
  endpoint: Endpoint | null
  caller: Caller | null
  admitted: Admitted | null
  notes: Record<string, unknown>
  /** The caller as identified by the handler, if no credential identifies it. */
  actor: Actor | null
  /** Created on first use: most requests end without it. */
  signal(): AbortSignal
  errorCode: string | null
  /** True for a successful request that writes no audit entry. */
  isOmittedFromAudit: boolean
  /** The epoch before the caller was admitted; see `AccessRevocation`. */
  revocationEpoch: number
  /** Whether a caller that changed may still get the response. */
  mayReceive(caller: Caller): boolean
  /** The reason why an admitted caller lost access; null otherwise. */
  revokedBy: Fault | null
  /** Gives up the memory that was reserved for the body, if any. */
  releaseBody(): void
}

declare module 'fastify' {
  interface FastifyRequest {
    roost: RequestState
  }
}

export type BindOptions = {
  guard: Guard
  /** Checks responses against the endpoint's schema. On in tests, off in production to save time. */
  checkReplies: boolean
  /** Ends responses whose caller loses access. Without it they run to their end. */
  accessRevocation?: AccessRevocation
  /** Memory for large bodies. */
  bodies: BodyBudget
}

/** Registers a route on `app`. */
export function bindRoute(app: FastifyInstance, route: Route, options: BindOptions): void {
  if (route.endpoint.bodyKind !== 'stream') {
    bind(app, route, options)
    return
  }
  // Parsers belong to a scope: in this one a body is not read before the handler.
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null, undefined))
    bind(scope, route, options)
    done()
  })
}

function bind(app: FastifyInstance, { endpoint, handle, admit }: Route, options: BindOptions): void {
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    bodyLimit: endpoint.bodyLimit ?? defaultBodyLimit,
    onRequest: async (request, reply) => {
      const state = request.roost
      state.endpoint = endpoint
      state.revocationEpoch = options.accessRevocation?.revocationEpoch() ?? 0
      const params = request.params as Record<string, string>
      // Clients resolve an id of `..` themselves, which leaves the collection's path with a trailing slash.
      if (request.method === 'DELETE' && pathOf(request).endsWith('/')) throw new Fault('not_found')
      if (Object.values(params).some((value) => value.includes('\0'))) throw new Fault('not_found')
      const { authorization } = request.headers
      state.admitted = await options.guard(endpoint.access, authorization, params.name, (caller) => {
        state.caller = caller
      })
      if (endpoint.access.who === 'internal') refuseOtherThanJson(request)
      state.signal = signalOf(request, reply, endpoint, options)
      const { caller } = state.admitted
      await admit?.({ caller, params, ip: request.ip, authorization })
      reserveBody(request, reply, caller, options)
    },
    ...(endpoint.method === 'GET' ? { onSend: compressReply } : {}),
    preHandler: async ({ roost }) => roost.releaseBody(),
    handler: async (request, reply) => {
      const params = parseParams(endpoint.params, request.params)
      const query = readQuery(endpoint, request.query)
      const bytes = request.body as Buffer | undefined
      const call = {
        params,
        query,
        body:
          endpoint.bodyKind === 'stream'
            ? uploadOf(request.raw)
            : readBody(endpoint, bytes, request.headers['content-type'], query),
        ...request.roost.admitted,
        request: new BoundRequestInfo(request, options.checkReplies),
      }
      const result = await handle(call as never).catch((error: unknown) => {
        throwIfRevoked(request)
        throw error
      })
      // An event stream reports its end itself; a JSON document cannot be completed.
      const isDocument = !isStream(result) || result.contentType.startsWith('application/json')
      if (isDocument) throwIfRevoked(request)
      const sent = isDocument && isStream(result) ? whileAdmitted(request, result) : result
      return send(reply, endpoint, sent, options.checkReplies)
    },
  })
}

/** A slow body occupies memory until the request times out. Bodies up to the ordinary limit are not counted. */
function reserveBody(
  { headers, roost, raw }: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  { bodies }: BindOptions,
): void {
  const { bodyKind, bodyLimit = defaultBodyLimit } = roost.endpoint ?? {}
  const bytes = Math.min(Number(headers['content-length'] ?? bodyLimit), bodyLimit)
  if (bodyKind === 'stream' || bytes <= defaultBodyLimit) return
  // After a disconnection during the checks above, nothing would release the memory.
  if (raw.destroyed) return
  roost.releaseBody = bodies.reserve(bytes, caller.kind === 'anonymous' ? null : caller.user.id)
  reply.raw.once('close', roost.releaseBody)
}

/** A web page can send every other content type without asking first. */
function refuseOtherThanJson({ headers }: FastifyRequest): void {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': encoding } = headers
  const hasBody = encoding !== undefined || (length !== undefined && length !== '0')
  if (type === undefined ? !hasBody : /^application\/json\s*(;|$)/i.test(type)) return
  throw new Fault('unsupported_media_type', 'The body must be JSON (Content-Type: application/json).')
}

/** Aborts when the client disconnects or loses access. */
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
  let signal: AbortSignal | null = null
  return () => {
    if (signal) return signal
    const revoked = new AbortController()
    const admission = {
      caller,
      agent,
      async ask(name: string | undefined) {
        const now = await guard(access, request.headers.authorization, name, () => {})
        if (!state.mayReceive(now.caller)) throw new Fault('agent_access_denied')
      },
      end(why: unknown) {
        state.revokedBy = why instanceof Fault ? why : new Fault('agent_not_found')
        revoked.abort()
      },
    }
    const unwatch = accessRevocation.watch(admission, state.revocationEpoch)
    reply.raw.once('close', unwatch)
    if (reply.raw.destroyed) unwatch()
    signal = AbortSignal.any([closed(), revoked.signal])
    return signal
  }
}

/** Throws if the caller lost access while it waited. */
function throwIfRevoked({ roost }: FastifyRequest): void {
  if (roost.revokedBy) throw roost.revokedBy
}

/** Cuts a document off whose caller loses access while it is sent. */
function whileAdmitted(request: FastifyRequest, { body, ...rest }: StreamAnswer): StreamAnswer {
  if (body instanceof Readable) return { ...rest, body }
  async function* checked() {
    for await (const piece of body) {
      throwIfRevoked(request)
      yield piece
    }
  }
  return { ...rest, body: checked() }
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
 * A class because of its getter. A literal with a getter gets a new V8 shape per request. That shape keeps request
 * and response until a major garbage collection (`memory-per-request.test.ts`).
 */
class BoundRequestInfo implements RequestInfo {
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

  readonly omitFromAudit = (): void => {
    this.#request.roost.isOmittedFromAudit = true
  }

  readonly endUnless = (mayReceive: (caller: Caller) => boolean): void => {
    this.#request.roost.mayReceive = mayReceive
  }

  readonly actedBy = (actor: Actor): void => {
    this.#request.roost.actor = actor
  }
}

function send(reply: FastifyReply, endpoint: Endpoint, result: unknown, checkReplies: boolean): FastifyReply {
  const response = isStream(result) || isAnswer(result) ? result : answer(result)
  const { status = endpoint.status ?? 200, headers = {} } = response
  const contentType = isStream(response) ? response.contentType : headers['content-type']
  if (checkReplies) refuseUndeclaredReply(endpoint, { status, headers, contentType, body: response.body })
  reply.code(status).headers(headers)
  if (isStream(response)) {
    reply.type(response.contentType)
    const { body } = response
    return reply.send(body instanceof Readable ? body : Readable.from(body, { objectMode: false }))
  }
  const { body } = response
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
