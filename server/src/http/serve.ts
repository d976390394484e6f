import type { ServerResponse } from 'node:http'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { Fault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { type BindOptions, bindRoute } from './bind.ts'
import { createBodyBudget } from './body-budget.ts'
import { declaredProblem } from './documented.ts'
import { type Problem, problemOf } from './problem.ts'
import { requestId } from './request-id.ts'
import type { Route } from './route.ts'
import type { OpenStreams } from './streams.ts'
import { discardUpload } from './upload.ts'

export type ServerOptions = Omit<BindOptions, 'bodies'> & {
  routes: Route[]
  log: Log
  trustedProxies: string[]
  /** Registry of long responses, so that a stop of the process can end them. */
  streams?: OpenStreams
  /** Responds to a browser at an unknown address; null: the response is the error body. */
  notFoundPage?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null
  /** Called once for each handled request, even if its client disconnected. Writes the audit entry. */
  onHandled?: (request: HandledRequest) => void
  /** Called after each response, for metrics. Not called for requests without a route. */
  onObserved?: (request: { method: string; route: string; status: number; seconds: number }) => void
}

export type HandledRequest = {
  id: string
  ip: string
  status: number
  errorCode: string | null
  params: Record<string, string>
  roost: import('./bind.ts').RequestState
}

/** Responses contain keys, tokens and private data, so caching is off. Pages and pictures set their own header. */
const noStore = { 'cache-control': 'no-store' }

/** Creates the application of one listener: routes, request ids, errors, logs. Does not listen yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log } = options
  const patterns = patternsOf(options.routes)
  const app = fastify({
    // Bodies stay raw bytes, so that signatures can be checked and invalid JSON gets our own error.
    genReqId: requestId,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    // Limits the time to receive a whole request; responses may stream for hours.
    requestTimeout: 300_000,
    keepAliveTimeout: 75_000,
    logger: false,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const problem = problemOf(error, String(request.id))
      // Hooks do not run for an unreadable address.
      reply.headers({ 'x-request-id': request.id, ...noStore })
      sendProblem(reply, problem)
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  /** Requests whose response was not reported yet. */
  const handled = new WeakSet<FastifyRequest>()
  const report = (request: FastifyRequest, reply: FastifyReply) => {
    if (!handled.delete(request)) return
    options.onHandled?.({
      id: request.id,
      ip: request.ip,
      status: reply.statusCode,
      errorCode: request.roost.errorCode,
      params: (request.params ?? {}) as Record<string, string>,
      roost: request.roost,
    })
  }

  app.decorateRequest('roost', null as never)
  app.addHook('onRequest', async (request, reply) => {
    const signal = closeSignal(reply.raw, options.streams)
    const initial = {
      ...{ endpoint: null, caller: null, admitted: null, errorCode: null },
      isOmittedFromAudit: false,
    }
    request.roost = {
      ...initial,
      notes: {},
      actor: null,
      signal,
      revocationEpoch: 0,
      mayReceive: () => true,
      revokedBy: null,
      releaseBody() {},
    }
    reply.headers({ 'x-request-id': request.id, ...noStore })
    // An aborted response never fires `onResponse`, so disconnects are reported here.
    reply.raw.once('close', () => {
      if (handled.has(request)) report(request, reply)
    })
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    handled.add(request)
    if (reply.raw.destroyed) report(request, reply)
    done(null, payload)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (log.isDebug()) {
      log.debug(
        {
          request_id: request.id,
          method: request.method,
          route: request.routeOptions.url,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
        },
        'request',
      )
    }
    const { endpoint } = request.roost
    if (endpoint) {
      const { method, path: route } = endpoint
      options.onObserved?.({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 })
    }
    report(request, reply)
  })
  app.setErrorHandler((error, request, reply) => {
    const { endpoint } = request.roost
    const raw = problemOf(error, request.id)
    const problem = options.checkReplies && endpoint ? declaredProblem(endpoint, raw) : raw
    request.roost.errorCode = problem.body.error
    if (problem.unexpected && !disconnectedInBody(request))
      log.error({ request_id: request.id, route: request.routeOptions.url, err: error }, 'request failed')
    if (problem.body.error === 'body_too_large') discardBody(request, reply)
    else if (endpoint?.bodyKind === 'stream' && !request.raw.complete) discardUpload(request.raw)
    sendProblem(reply, problem)
  })
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(patterns, request.url)
    const page = allowed.length === 0 ? options.notFoundPage?.(request, reply) : null
    if (page) return page
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    const fault = new Fault(allowed.length > 0 ? 'method_not_allowed' : 'not_found')
    return sendProblem(reply, problemOf(fault, request.id))
  })
  const bindOptions = { ...options, bodies: createBodyBudget() }
  for (const route of options.routes) bindRoute(app, route, bindOptions)
  return app
}

function sendProblem(reply: FastifyReply, { status, headers, body }: Problem): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body))
}

/** True if the client disconnected while sending its body, which is not a server error. */
function disconnectedInBody({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** Bodies up to this size are read and discarded before the connection closes. */
const maxDiscardedBytes = 64 * 1024 * 1024

/**
 * Reads the rest of a refused body: most clients send it whole before they read the response, and would lose
 * the response if the connection closed. Larger bodies and bodies of unknown length are cut off.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (length > maxDiscardedBytes) return
  reply.removeHeader('connection')
  request.raw.resume()
}

/** Aborts if the client disconnects before the response is complete. Aborting is slow, so a normal end does not. */
function closeSignal(response: ServerResponse, streams: OpenStreams | undefined): () => AbortSignal {
  let controller: AbortController | null = null
  return () => {
    if (controller) return controller.signal
    const created = new AbortController()
    controller = created
    const remove = streams?.add(() => created.abort())
    if (response.destroyed) created.abort()
    response.once('close', () => {
      remove?.()
      if (!response.writableFinished) created.abort()
    })
    return created.signal
  }
}

type PathPattern = { pattern: RegExp; method: string }

function patternsOf(routes: Route[]): PathPattern[] {
  return routes.map(({ endpoint }) => {
    const source = endpoint.path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^}]+\}/g, '[^/]+')
    return { pattern: new RegExp(`^${source}/?$`), method: endpoint.method }
  })
}

function methodsOf(patterns: PathPattern[], url: string): string[] {
  const path = url.split('?', 1)[0] ?? url
  return [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}
