import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { drained } from './drained.ts'
import { Refused, UpstreamDown } from './failures.ts'
import { createModelScanner } from './model-scanner.ts'
import { tokensOfBytes } from './usage-rules.ts'

/** Maximum size of a request body. */
export const maxRequestBytes = 64 * 1024 * 1024
/** Time without data from a provider after which its request fails. */
const idleMs = 900_000
/**
 * Idle connections are closed after this time, or earlier when the provider announces its own limit: a
 * request on a connection that the other end just closed would fail. Node ignores announcements unless this
 * is set.
 */
const maxIdleConnectionMs = 50_000

export type Upstream = {
  /**
   * Streams the request to the provider, and resolves when it has ended or the provider has responded early. Rejects
   * with `Refused` for a request that is not allowed, and the reason of the signal.
   */
  send(
    request: IncomingMessage,
    to: { url: URL; headers: Record<string, string | string[]> },
    options: { checkModel: ((model: string) => boolean) | null; signal: AbortSignal },
  ): Promise<Sent>
  close(): void
}

export type Sent = {
  model: string | null
  /** Estimated tokens of the request. */
  tokens: number
  /** True when the connection has taken the whole request. */
  isDelivered(): boolean
  /**
   * The response, whose body is still unread. Rejects with `UpstreamDown` for an unreachable provider, and the reason
   * of the signal.
   */
  answered: Promise<IncomingMessage>
}

/** Reuses connections: a TLS handshake per request would cost more than everything else here. */
export function createUpstream(): Upstream {
  const options = {
    ...{ keepAlive: true, maxSockets: 512, maxFreeSockets: 64, scheduling: 'lifo' as const },
    timeout: maxIdleConnectionMs,
  }
  const http = new HttpAgent(options)
  const https = new HttpsAgent(options)

  return {
    async send(request, { url, headers }, { checkModel, signal }) {
      signal.throwIfAborted()
      const isTls = url.protocol === 'https:'
      const upstream = (isTls ? requestHttps : requestHttp)(url, {
        method: request.method ?? 'GET',
        headers,
        agent: isTls ? https : http,
        signal,
        timeout: idleMs,
      })
      upstream.on('timeout', () => upstream.destroy(new Error('The model provider fell silent.')))
      const answered = replyOf(upstream, signal)
      // The caller awaits it; an early response or error must not count as unhandled.
      answered.catch(() => {})
      try {
        const { model, tokens } = await pump(request, upstream, { checkModel, answered })
        signal.throwIfAborted()
        return { model, tokens, isDelivered: () => upstream.writableFinished, answered }
      } catch (error) {
        upstream.destroy()
        throw error
      }
    },
    close() {
      http.destroy()
      https.destroy()
    },
  }
}

function replyOf(upstream: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream.once('response', resolve)
    upstream.on('error', (error) =>
      reject(signal.aborted ? signal.reason : new UpstreamDown({ cause: error })),
    )
  })
}

/**
 * Forwards the body chunk by chunk. A chunk that names a model outside the offered families is held back, so
 * the provider never receives the whole request, and nothing is buffered.
 */
async function pump(
  request: IncomingMessage,
  upstream: ClientRequest,
  options: { checkModel: ((model: string) => boolean) | null; answered: Promise<unknown> },
): Promise<{ model: string | null; tokens: number }> {
  const { checkModel, answered } = options
  const scanner = checkModel ? createModelScanner() : null
  let model: string | null = null
  let size = 0
  let tokens = 0
  let isAnswered = false
  const early = answered.then(
    () => {
      isAnswered = true
    },
    () => {
      isAnswered = true
    },
  )
  // An error must not close the connection before the response is written.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    const chunk = piece as Buffer
    size += chunk.length
    tokens += tokensOfBytes(chunk)
    if (size > maxRequestBytes) throw new Refused(413, 'The request is larger than 64 MiB.')
    const found = scanner?.feed(chunk)
    if (found?.isBackground) throw new Refused(400, backgroundRefusal)
    for (const named of found?.models ?? []) {
      if (checkModel && !checkModel(named)) throw new Refused(404, notOffered(named))
      model = named
    }
    // A provider that has responded already does not read further.
    if (isAnswered) break
    if (!upstream.write(chunk)) await Promise.race([drained(upstream), early])
  }
  upstream.end()
  return { model, tokens }
}

/** The provider would report its usage to whoever reads the response later, by a route that is not offered. */
const backgroundRefusal =
  'background: this platform does not offer responses in the background. Leave the field out, or set it to false.'

export function notOffered(model: string): string {
  return `model: "${model.slice(0, 200)}" is not of a family that this platform offers (claude-, gemini-, gpt-, codex).`
}
