import type { ServerResponse } from 'node:http'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { Fault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { type BindOptions, bindRoute } from './bind.ts'
import { declaredProblem } from './documented.ts'
import { type Problem, problemOf } from './problem.ts'
import { requestId } from './request-id.ts'
import type { Route } from './route.ts'
import type { OpenStreams } from './streams.ts'

export type ServerOptions = BindOptions & {
  routes: Route[]
  log: Log
  trustedProxies: string[]
  /** Where replies are kept that may last, so that whoever stops the process can end them. */
  streams?: OpenStreams
  /** Answers a browser at an address of which nothing is known; null: the answer is the error body. */
  notFoundPage?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null
  /**
   * Called once for each request that was handled, whether its client waited for the answer or not; writes
   * the audit entry.
   */
  answered?: (request: AnsweredRequest) => void
  /** Called when a reply has left, for figures; requests of no route are left out. */
  observed?: (request: { method: string; route: string; status: number; seconds: number }) => void
}

export type AnsweredRequest = {
  id: string
  ip: string
  status: number
  errorCode: string | null
  params: Record<string, string>
  roost: import('./bind.ts').RequestState
}

/**
 * Replies hold keys, tokens and what only one person may read, so no cache keeps them; what may be kept (pages,
 * pictures) says so itself.
 */
const notKept = { 'cache-control': 'no-store' }

/** One listener's application: routes, request ids, errors, logs. Nothing listens yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log } = options
  const patterns = patternsOf(options.routes)
  const app = fastify({
    // Keeps the bytes of a body as they came, so that signatures can be checked and bad JSON is our own error.
    genReqId: requestId,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    // For receiving one whole request; replies may stream for hours.
    requestTimeout: 300_000,
    keepAliveTimeout: 75_000,
    logger: false,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const problem = problemOf(error, String(request.id))
      // No hook runs for an address that cannot be read.
      reply.headers({ 'x-request-id': request.id, ...notKept })
      sendProblem(reply, problem)
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  /** Requests whose answer is known, until they are told of. */
  const handled = new WeakSet<FastifyRequest>()
  const report = (request: FastifyRequest, reply: FastifyReply) => {
    if (!handled.delete(request)) return
    options.answered?.({
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
    const unknown = { endpoint: null, caller: null, admitted: null, errorCode: null }
    request.roost = { ...unknown, notes: {}, actor: null, signal, revocationEpoch: 0, lostBy: null }
    reply.headers({ 'x-request-id': request.id, ...notKept })
    // A reply that is cut has no end of its own; who leaves early is told of like everybody.
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
      options.observed?.({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 })
    }
    report(request, reply)
  })
  app.setErrorHandler((error, request, reply) => {
    const { endpoint } = request.roost
    const found = problemOf(error, request.id)
    const problem = options.checkReplies && endpoint ? declaredProblem(endpoint, found) : found
    request.roost.errorCode = problem.body.error
    if (problem.unexpected && !leftHalfWay(request))
      log.error({ request_id: request.id, route: request.routeOptions.url, err: error }, 'request failed')
    if (problem.body.error === 'body_too_large') readOn(request, reply)
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
  for (const route of options.routes) bindRoute(app, route, options)
  return app
}

function sendProblem(reply: FastifyReply, { status, headers, body }: Problem): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body))
}

/** Whether the client went away in the middle of its own body: nobody waits for the answer, and nothing is wrong here. */
function leftHalfWay({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** So much more than any route takes is read and thrown away before a connection is cut. */
const longestRefused = 64 * 1024 * 1024

/**
 * Most clients send the whole body before they read the answer; a connection that is closed meanwhile takes the answer
 * with it. What says that it is far too long, or not how long it is, is cut off all the same.
 */
function readOn(request: FastifyRequest, reply: FastifyReply): void {
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (length > longestRefused) return
  reply.removeHeader('connection')
  request.raw.resume()
}

/** Aborts when the client goes away before the reply is complete. An abort costs, so a normal end is none. */
function closeSignal(response: ServerResponse, streams: OpenStreams | undefined): () => AbortSignal {
  let controller: AbortController | null = null
  return () => {
    if (controller) return controller.signal
    const made = new AbortController()
    controller = made
    const left = streams?.add(() => made.abort())
    if (response.destroyed) made.abort()
    response.once('close', () => {
      left?.()
      if (!response.writableFinished) made.abort()
    })
    return made.signal
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
