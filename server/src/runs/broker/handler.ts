import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { executionStore } from '../executions/index.ts'
import { contextTokens, contextWindow, costMicros, minus, noTokens, type Tokens } from './cost-rules.ts'
import { errorBody } from './errors.ts'
import { createUpstream, maxRequestBytes, notOffered, Refused, UpstreamDown } from './forward.ts'
import { createMeter, type Meter } from './meter.ts'
import type { Provider } from './prices.ts'
import {
  type Asked,
  credentialHeaders,
  credentialOf,
  forwardedReplyHeaders,
  forwardedRequestHeaders,
  isHopeless,
  isOfferedModel,
  isProvider,
  readAsked,
  upstreamUrl,
} from './provider-rules.ts'
import type { BrokerTokens } from './tokens.ts'

export type HandlerDeps = {
  db: Db
  log: Log
  tokens: Pick<BrokerTokens, 'read'>
  /** The key that the platform pays with; null when none is configured. */
  providerKey(provider: Provider): Secret | null
  providerBaseUrl(provider: Provider): string
  /** Milliseconds that only grow, for latencies. */
  monotonic(): number
}

export type BrokerHandler = {
  /** Serves one request below `/broker/`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Breaks off what is being streamed for a run that has ended. */
  runEnded(executionId: string): void
  close(): void
}

const prefix = '/broker/'

export function createHandler(deps: HandlerDeps): BrokerHandler {
  const { db, log, tokens } = deps
  const upstream = createUpstream()
  const open = new Map<string, Set<AbortController>>()

  /** The run that a token pays for now; null when it is not running. */
  async function runOf(token: string): Promise<{ grantFound: boolean; executionId: string | null }> {
    const grant = tokens.read(token)
    if (!grant) return { grantFound: false, executionId: null }
    const store = executionStore(db)
    const { agentId, kind, id } = grant
    const executionId = await (kind === 'session'
      ? store.runningTurn(agentId, id)
      : store.runningRun(agentId, id))
    return { grantFound: true, executionId }
  }

  async function admit(
    request: IncomingMessage,
    asked: Asked | null,
    url: string,
  ): Promise<{ executionId: string; asked: Asked; key: Secret }> {
    const token = credentialOf(request.headers, url)
    const { grantFound, executionId } = token ? await runOf(token) : { grantFound: false, executionId: null }
    if (!grantFound) throw new Refused(401, 'The broker token is not valid.')
    if (!executionId) throw new Refused(403, 'The run of this token is not running.')
    if (!asked) throw new Refused(404, 'The broker does not offer this route.')
    if (asked.model !== null && !isOfferedModel(asked.model)) throw new Refused(404, notOffered(asked.model))
    if (Number(request.headers['content-length'] ?? 0) > maxRequestBytes) {
      throw new Refused(413, 'The request is larger than 64 MiB.')
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new Refused(415, 'The broker reads requests as they are, without content encoding.')
    }
    const key = deps.providerKey(asked.provider)
    if (!key) {
      throw new Refused(
        503,
        `not_configured: this platform has no key for ${asked.provider}. An admin sets one.`,
      )
    }
    return { executionId, asked, key }
  }

  async function serve(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    const began = deps.monotonic()
    const { executionId, asked, key } = await admit(request, readAsked(request.method ?? '', url), url)
    const { provider } = asked
    const abort = track(executionId)
    const onGone = () => abort.abort(new Error('The client is gone.'))
    response.once('close', onGone)
    try {
      const headers = {
        ...forwardedRequestHeaders(request.headers),
        ...credentialHeaders(provider, key.reveal()),
        'accept-encoding': 'identity',
      }
      const { reply, model } = await upstream.send(
        request,
        { url: upstreamUrl(deps.providerBaseUrl(provider), asked.path), headers },
        { checkModel: asked.hasModelInBody ? isOfferedModel : null, signal: abort.signal },
      )
      const status = reply.statusCode ?? 502
      const meter = createMeter(provider, status === 200 ? reply.headers['content-type'] : undefined)
      const book = booking(executionId, provider, model ?? asked.model, meter)
      response.writeHead(status, {
        ...forwardedReplyHeaders(reply.headers),
        ...(isHopeless(status) ? { 'x-should-retry': 'false' } : {}),
      })
      response.flushHeaders()
      const used = await relay(reply, response, { meter, book, isMetered: status === 200 })
      const ms = Math.round(deps.monotonic() - began)
      log.info(
        {
          execution_id: executionId,
          provider,
          model: meter.model() ?? model ?? asked.model,
          status,
          ms,
          ...used,
        },
        'model request',
      )
    } finally {
      response.off('close', onGone)
      untrack(executionId, abort)
    }
  }

  /**
   * Adds what was not added yet. The final count is booked before its bytes go on, so that a run which ends
   * on them finds its cost.
   */
  function booking(executionId: string, provider: Provider, askedModel: string | null, meter: Meter) {
    let booked: Tokens | null = null
    return async () => {
      const tokens = meter.tokens()
      if (!tokens) return
      const fresh = minus(tokens, booked ?? noTokens)
      if (booked && Object.values(fresh).every((count) => count === 0)) return
      const model = meter.model() ?? askedModel
      const before = booked ? costMicros(provider, model, booked) : 0
      const isFirst = booked === null
      booked = tokens
      await executionStore(db).addUsage(executionId, {
        requests: isFirst ? 1 : 0,
        cost_micros: costMicros(provider, model, tokens) - before,
        input_tokens: fresh.input,
        output_tokens: fresh.output,
        cache_creation_tokens: fresh.cacheWrite,
        cache_read_tokens: fresh.cacheRead,
        model,
        context_used: contextTokens(tokens),
        context_max: contextWindow(provider, model),
      })
    }
  }

  function track(executionId: string): AbortController {
    const abort = new AbortController()
    const present = open.get(executionId) ?? new Set()
    present.add(abort)
    open.set(executionId, present)
    return abort
  }

  function untrack(executionId: string, abort: AbortController): void {
    const present = open.get(executionId)
    present?.delete(abort)
    if (present?.size === 0) open.delete(executionId)
  }

  return {
    async handle(request, response) {
      const url = (request.url ?? '').slice(prefix.length)
      // A client that leaves while it is written to is no fault of this server.
      response.on('error', () => {})
      // Clients look whether the base address is there, before they have anything to ask.
      if (request.method === 'HEAD') return void response.writeHead(200).end()
      try {
        await serve(request, response, url)
      } catch (error) {
        const provider = providerOf(url)
        const failure = failureOf(error)
        if (!failure.isExpected) log.error({ provider, err: error }, 'model request failed')
        else log.info({ provider, status: failure.status, reason: failure.message }, 'model request refused')
        refuse(request, response, provider, failure)
      }
    },
    runEnded(executionId) {
      for (const abort of open.get(executionId) ?? []) abort.abort(new Error('The run has ended.'))
    },
    close: () => upstream.close(),
  }
}

/** Passes the answer on as it comes, counting. Gives the tokens of the whole answer. */
async function relay(
  reply: IncomingMessage,
  response: ServerResponse,
  { meter, book, isMetered }: { meter: Meter; book(): Promise<void>; isMetered: boolean },
): Promise<{ input_tokens: number; output_tokens: number } | undefined> {
  try {
    for await (const piece of reply) {
      const chunk = piece as Buffer
      if (isMetered && meter.feed(chunk)) await book()
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    meter.end()
    if (isMetered) await book()
    response.end()
  } catch (error) {
    // Broken off by the provider, the client or the end of the run: what was spent until then counts.
    meter.end()
    if (isMetered) await book()
    response.destroy()
    throw error
  }
  const tokens = meter.tokens()
  return tokens ? { input_tokens: tokens.input, output_tokens: tokens.output } : undefined
}

type Failure = { status: number; message: string; isExpected: boolean }

function failureOf(error: unknown): Failure {
  if (error instanceof Refused) return { status: error.status, message: error.message, isExpected: true }
  if (error instanceof UpstreamDown) return { status: 502, message: error.message, isExpected: true }
  if (error instanceof Error && /client is gone|run has ended|aborted|premature close/i.test(error.message)) {
    return { status: 499, message: 'broken off', isExpected: true }
  }
  return { status: 502, message: 'The broker could not do this.', isExpected: false }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  provider: Provider,
  { status, message }: Failure,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const hopeless = isHopeless(status) || status === 503
  const code = status === 503 ? { code: 'not_configured' } : {}
  const body = errorBody(provider, { status: status === 499 ? 502 : status, message, ...code })
  response.writeHead(status === 499 ? 502 : status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(hopeless ? { 'x-should-retry': 'false' } : {}),
    // The rest of the request is not read.
    connection: 'close',
  })
  response.end(body)
  request.resume()
}

function providerOf(url: string): Provider {
  const name = url.split(/[/?]/, 1)[0] ?? ''
  return isProvider(name) ? name : 'anthropic'
}
