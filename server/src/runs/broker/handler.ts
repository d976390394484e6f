import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../kit/clock.ts'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { executionStore, type Usage } from '../executions/index.ts'
import type { Prices } from '../prices/index.ts'
import { costOf } from './cost.ts'
import { answerFailure, BrokenOff, failureOf, Refused } from './failures.ts'
import { createUpstream, maxRequestBytes, notOffered } from './forward.ts'
import { createMeter } from './meter.ts'
import {
  type Asked,
  asksModel,
  credentialOf,
  forwardedReplyHeaders,
  forwardedRequestHeaders,
  isOfferedModel,
  isProvider,
  type Provider,
  readAsked,
  retryHeaders,
  upstreamUrl,
  withBetas,
} from './provider-rules.ts'
import { readRefusal } from './refusal.ts'
import { createBooking, relay } from './relay.ts'
import type { BrokerTokens } from './tokens.ts'
import { guessOf, tierOf } from './usage-rules.ts'
import { type WireCredentialDeps, wireCredentialOf } from './wire-credential.ts'

export type HandlerDeps = Omit<WireCredentialDeps, 'log'> & {
  db: Db
  log: Log
  clock: Pick<Clock, 'now'>
  prices: Pick<Prices, 'lookup'>
  tokens: Pick<BrokerTokens, 'read'>
  providerBaseUrl(provider: Provider): string
  /** Why a run may not spend more; null: it may. */
  spendRefusal(run: { agentId: string; executionId: string }): Promise<string | null>
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

  /** The run that a token pays for now. Throws what is wrong with it. */
  async function runOf(token: string | null): Promise<{ agentId: string; executionId: string }> {
    const grant = token === null ? null : tokens.read(token)
    if (!grant) throw new Refused(401, 'The broker token is not valid.')
    const store = executionStore(db)
    const { agentId, kind, id } = grant
    const running = await (kind === 'session'
      ? store.runningTurn(agentId, id)
      : store.runningRun(agentId, id))
    if (running === null) throw new Refused(403, 'The run of this token is not running.')
    // Fails closed: without the database there is no run either.
    const refusal = await deps.spendRefusal({ agentId, executionId: running })
    if (refusal !== null) throw new Refused(402, `cap_reached: ${refusal}`, 'cap_reached')
    return { agentId, executionId: running }
  }

  function admit(request: IncomingMessage, asked: Asked | null): Asked {
    if (!asked) throw new Refused(404, 'The broker does not offer this route.')
    if (asked.model !== null && !isOfferedModel(asked.model)) throw new Refused(404, notOffered(asked.model))
    if (Number(request.headers['content-length'] ?? 0) > maxRequestBytes) {
      throw new Refused(413, 'The request is larger than 64 MiB.')
    }
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new Refused(415, 'The broker reads requests as they are, without content encoding.')
    }
    return asked
  }

  async function serve(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    const began = deps.monotonic()
    const { agentId, executionId } = await runOf(credentialOf(request.headers, url))
    const asked = admit(request, readAsked(request.method ?? '', url))
    const { provider } = asked
    const credential = await wireCredentialOf(deps, { agentId, provider })
    const abort = track(executionId)
    const onGone = () => abort.abort(new BrokenOff())
    response.once('close', onGone)
    try {
      const headers = {
        ...withBetas(
          forwardedRequestHeaders(request.headers),
          credentialHeaders(provider, credential.key.reveal()),
        ),
        'accept-encoding': 'identity',
      }
      const { reply, model, requestBytes } = await upstream.send(
        request,
        { url: upstreamUrl(deps.providerBaseUrl(provider), asked.path), headers },
        { checkModel: asked.hasModelInBody ? isOfferedModel : null, signal: abort.signal },
      )
      const status = reply.statusCode ?? 502
      const askedModel = model ?? asked.model
      const named = [reply.headers['x-gemini-service-tier']].flat()[0]
      const tier = named === undefined ? 'standard' : tierOf(named)
      const meter = createMeter(provider, {
        contentType: reply.headers['content-type'],
        counts: status === 200,
        tier,
      })
      const add = async (usage: Usage) => {
        await executionStore(db).addUsage(executionId, usage)
        await credential.used(usage)
      }
      const book = createBooking({
        askedModel,
        meter,
        guess: () => guessOf(requestBytes, meter.pieces(), tier),
        cost: (used, metered) =>
          costOf({ prices: deps.prices.lookup(), provider, at: deps.clock.now() }, used, metered),
        add,
      })
      // Whether a count or a list is refused says nothing of what the credential is for.
      const { body, pieces } = await readRefusal(reply, provider)
      const hasMoved =
        asksModel(asked) && (await credential.answered({ status, headers: reply.headers, body }))
      response.writeHead(status, {
        ...forwardedReplyHeaders(reply.headers),
        ...retryHeaders(status, hasMoved),
      })
      response.flushHeaders()
      await relay(pieces, response, { meter, book })
      const used = meter.metered()?.tokens
      log.info(
        {
          execution_id: executionId,
          provider,
          model: meter.model() ?? askedModel,
          status,
          ms: Math.round(deps.monotonic() - began),
          ...(used ? { input_tokens: used.input, output_tokens: used.output } : {}),
        },
        'model request',
      )
    } catch (error) {
      // The streams say in many ways that somebody has left; the signal and the request know.
      const isGone = abort.signal.aborted || request.errored !== null
      throw isGone && !(error instanceof Refused) ? new BrokenOff() : error
    } finally {
      response.off('close', onGone)
      untrack(executionId, abort)
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
        answerFailure(request, response, provider, failure)
      }
    },
    runEnded(executionId) {
      for (const abort of open.get(executionId) ?? []) abort.abort(new BrokenOff())
    },
    close: () => upstream.close(),
  }
}

/** Refusals speak as the provider that was asked; of an unknown one, as the first. */
function providerOf(url: string): Provider {
  const name = url.split(/[/?]/, 1)[0] ?? ''
  return isProvider(name) ? name : 'anthropic'
}
