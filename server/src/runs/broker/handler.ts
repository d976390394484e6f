import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RuntimeName } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { executionStore, type Usage } from '../executions/index.ts'
import type { Prices } from '../prices/index.ts'
import { type CallRecord, createCallRecord } from './call-record.ts'
import { costOf, windowOf } from './cost.ts'
import { Aborted, answerFailure, failureOf, Refused } from './failures.ts'
import { createUpstream, maxRequestBytes, notOffered } from './forward.ts'
import { failedResult, type ModelMeters, measured, resultOf } from './measure.ts'
import { createMeter, type Meter } from './meter.ts'
import {
  callsModel,
  credentialOf,
  forwardedReplyHeaders,
  forwardedRequestHeaders,
  isOfferedModel,
  isProvider,
  type Provider,
  providerOfRuntime,
  type RequestTarget,
  readTarget,
  retryHeaders,
  upstreamUrl,
  withBetas,
} from './provider-rules.ts'
import { createBooking, relay } from './relay.ts'
import type { BrokerTokens } from './tokens.ts'
import { guessOf, type Metered, type Tier, tierOf } from './usage-rules.ts'
import { type WireCredential, type WireCredentialDeps, wireCredentialOf } from './wire-credential.ts'

export type HandlerDeps = Omit<WireCredentialDeps, 'log'> & {
  db: Db
  log: Log
  meters: ModelMeters
  clock: Pick<Clock, 'now'>
  prices: Pick<Prices, 'lookup'>
  tokens: Pick<BrokerTokens, 'read'>
  providerBaseUrl(provider: Provider): string
  /** The runtime of an agent; null for an unknown one. Served from memory. */
  runtimeOf(agentId: string): Promise<RuntimeName | null>
  /** Returns why a run may not spend more; null when it may. */
  spendRefusal(run: { agentId: string; executionId: string }): Promise<string | null>
  /** Monotonic clock in milliseconds, for latencies. */
  monotonic(): number
}

export type BrokerHandler = {
  /** Serves one request below `/broker/`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Aborts the open streams of a run that has ended. */
  runEnded(executionId: string): void
  close(): void
}

type PayingRun = { agentId: string; executionId: string }
type ToBook = { executionId: string; call: CallRecord | null; credential: WireCredential; usage: Usage }

const prefix = '/broker/'

export function createHandler(deps: HandlerDeps): BrokerHandler {
  const { db, log, tokens } = deps
  const measure = measured(deps)
  const upstream = createUpstream()
  const open = new Map<string, Set<AbortController>>()

  /** Returns the run that a token pays for now. Throws `Refused` for an invalid token or an ended run. */
  async function runOf(token: string | null): Promise<PayingRun> {
    const grant = token === null ? null : tokens.read(token)
    if (!grant) throw new Refused(401, 'The broker token is not valid.')
    const run = await executionStore(db).runningOf(grant)
    if (run === null) throw new Refused(403, 'The run of this token is not running.')
    return { agentId: grant.agentId, executionId: run.id }
  }

  /** Fails closed: without the database a run cannot be found either. */
  async function checkSpend(run: PayingRun): Promise<void> {
    const refusal = await deps.spendRefusal(run)
    if (refusal !== null) throw new Refused(402, `cap_reached: ${refusal}`, 'cap_reached')
  }

  function checkRequest(request: IncomingMessage, target: RequestTarget | null): RequestTarget {
    if (!target) throw new Refused(404, 'The broker does not offer this route.')
    if (target.model !== null && !isOfferedModel(target.model))
      throw new Refused(404, notOffered(target.model))
    if (Number(request.headers['content-length'] ?? 0) > maxRequestBytes) {
      throw new Refused(413, 'The request is larger than 64 MiB.')
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new Refused(415, 'The broker reads requests as they are, without content encoding.')
    }
    return target
  }

  async function serve(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    const began = deps.monotonic()
    const run = await runOf(credentialOf(request.headers, url))
    const { agentId, executionId } = run
    // From here on the end of the run is noticed.
    const abort = track(executionId)
    const onClose = () => abort.abort(new Aborted())
    response.once('close', onClose)
    let call: CallRecord | null = null
    try {
      await checkSpend(run)
      const target = checkRequest(request, readTarget(request.method ?? '', url))
      const { provider } = target
      const runtime = await deps.runtimeOf(agentId)
      if (runtime === null || providerOfRuntime[runtime] !== provider)
        throw new Refused(403, 'The token of this run is for another model provider.')
      const credential = await wireCredentialOf(deps, { agentId, provider })
      // Token counts and model lists are not calls of a model.
      call = callsModel(target) ? createCallRecord({ executionId, provider, ...deps }) : null
      const headers = {
        ...withBetas(
          forwardedRequestHeaders(request.headers),
          credentialHeaders(provider, credential.key.reveal()),
        ),
        'accept-encoding': 'identity',
      }
      const sent = await upstream.send(
        request,
        { url: upstreamUrl(deps.providerBaseUrl(provider), target.path), headers },
        { checkModel: target.hasModelInBody ? isOfferedModel : null, signal: abort.signal },
      )
      const requestedModel = sent.model ?? target.model
      const guess = (output: number, tier: Tier) => {
        const price = deps.prices.lookup().priceOf(provider, requestedModel, deps.clock.now())
        return guessOf({ input: sent.tokens, output, window: windowOf(requestedModel, price), tier })
      }
      const bookingFor = (meter: Meter, guess: () => Metered | null) =>
        createBooking({
          requestedModel,
          meter,
          guess,
          cost: (used, metered) =>
            costOf({ prices: deps.prices.lookup(), provider, at: deps.clock.now() }, used, metered),
          add: (usage) => addUsage({ executionId, call, credential, usage }),
        })
      const reply = await sent.answered.catch(async (error: unknown) => {
        // The provider works on a whole request, whether somebody waits for its answer or not.
        if (abort.signal.aborted && call !== null && sent.isDelivered()) {
          const unread = createMeter(provider, { counts: false })
          await bookingFor(unread, () => guess(0, 'standard'))({ hasEnded: true })
        }
        throw error
      })
      const status = reply.statusCode ?? 502
      call?.answered({ status, model: requestedModel })
      const named = [reply.headers['x-gemini-service-tier']].flat()[0]
      const tier = named === undefined ? 'standard' : tierOf(named)
      const meter = createMeter(provider, {
        contentType: reply.headers['content-type'],
        counts: status === 200,
        tier,
      })
      const book = bookingFor(meter, () => {
        if (call === null || status !== 200) return null
        const output = meter.estimatedOutput()
        // A response that ends itself without any output has failed, which costs nothing.
        return output > 0 || abort.signal.aborted ? guess(output, tier) : null
      })
      // An error on a token count or a model list says nothing about the credential for messages.
      const { body, pieces } = await readRefusal(reply, provider)
      const hasSwitched =
        call !== null && (await credential.answered({ status, headers: reply.headers, body }))
      response.writeHead(status, {
        ...forwardedReplyHeaders(reply.headers),
        ...retryHeaders(status, hasSwitched),
      })
      response.flushHeaders()
      await relay(pieces, response, { meter, book, onChunk: () => call?.fed(meter.pieces()) })
      const used = meter.metered()?.tokens
      log.info(
        {
          execution_id: executionId,
          provider,
          model: meter.model() ?? requestedModel,
          status,
          ms: Math.round(deps.monotonic() - began),
          ...(used ? { input_tokens: used.input, output_tokens: used.output } : {}),
        },
        'model request',
      )
    } catch (error) {
      // A disconnect causes many different stream errors; the signal and the request identify it.
      const isAborted = abort.signal.aborted || request.errored !== null
      throw isAborted && !(error instanceof Refused) ? new Aborted() : error
    } finally {
      response.off('close', onClose)
      untrack(executionId, abort)
      if (call?.isChanged()) await storeEnd(call)
    }
  }

  /**
   * Books usage on the run. A repetition after an error books nothing if only the answer of the commit was lost: the
   * stored call then has these figures already.
   */
  async function addUsage({ executionId, call, credential, usage }: ToBook): Promise<void> {
    const store = (isRepeated: boolean) =>
      db.atomically(async (tx) => {
        // The lock waits for a commit that the database has not finished yet.
        if (isRepeated && (await executionStore(tx).lock(executionId)) && (await call?.isStored(tx))) return
        await executionStore(tx).addUsage(executionId, usage)
        await call?.store(tx)
      })
    const undo = call?.used(usage)
    await store(false)
      .catch(() => store(true))
      .catch((error: unknown) => {
        undo?.()
        throw error
      })
    measure.used(credential.provider, usage)
    await credential.used(usage)
  }

  /** Its figures are not worth failing the response, and the money is booked already. */
  async function storeEnd(call: CallRecord): Promise<void> {
    try {
      await db.atomically((tx) => call.store(tx))
    } catch (error) {
      log.error({ err: error }, 'model call not stored')
    }
  }

  function track(executionId: string): AbortController {
    const abort = new AbortController()
    const active = open.get(executionId) ?? new Set()
    active.add(abort)
    open.set(executionId, active)
    return abort
  }

  function untrack(executionId: string, abort: AbortController): void {
    const active = open.get(executionId)
    active?.delete(abort)
    if (active?.size === 0) open.delete(executionId)
  }

  return {
    async handle(request, response) {
      const url = (request.url ?? '').slice(prefix.length)
      // A client that disconnects during a write is not an error of this server.
      response.on('error', () => {})
      // Clients probe the base address before their first request.
      if (request.method === 'HEAD') return void response.writeHead(200).end()
      const provider = providerOf(url)
      const ended = measure.begin(provider)
      try {
        await serve(request, response, url)
        ended(resultOf(response.statusCode))
      } catch (error) {
        ended(failedResult(error))
        const failure = failureOf(error)
        if (!failure.isExpected) log.error({ provider, err: error }, 'model request failed')
        else log.info({ provider, status: failure.status, reason: failure.message }, 'model request refused')
        answerFailure(request, response, provider, failure)
      }
    },
    runEnded(executionId) {
      for (const abort of open.get(executionId) ?? []) abort.abort(new Aborted())
    },
    close: () => upstream.close(),
  }
}

/** Errors use the format of the requested provider; for an unknown one, Anthropic's. */
function providerOf(url: string): Provider {
  const name = url.split(/[/?]/, 1)[0] ?? ''
  return isProvider(name) ? name : 'anthropic'
}

/** Larger bodies are not read as credential errors. */
const maxRefusalBytes = 64 * 1024

/**
 * Reads the body of a response whose status alone does not show whether the credential failed. Returns it
 * with all chunks for forwarding. For other responses `body` is null and the chunks pass unread.
 */
async function readRefusal(
  reply: IncomingMessage,
  provider: Provider,
): Promise<{ body: string | null; pieces: AsyncIterable<Buffer> }> {
  // Google reports a bad key as a bad request, and the duration of a limit in the body.
  if (provider !== 'google' || ![400, 429].includes(reply.statusCode ?? 0))
    return { body: null, pieces: reply }
  const source = reply[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let size = 0
  while (size <= maxRefusalBytes) {
    const { value, done } = await source.next()
    if (done) return { body: Buffer.concat(read).toString(), pieces: replay(read, null) }
    read.push(value)
    size += value.length
  }
  return { body: null, pieces: replay(read, source) }
}

async function* replay(read: readonly Buffer[], rest: AsyncIterator<Buffer> | null): AsyncGenerator<Buffer> {
  yield* read
  if (rest) yield* { [Symbol.asyncIterator]: () => rest }
}
