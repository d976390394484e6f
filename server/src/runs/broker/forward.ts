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

/** Bytes of one request. */
export const maxRequestBytes = 64 * 1024 * 1024
/** Silence of a provider after which it is given up. */
const idleMs = 900_000
/**
 * A connection that is not used is given up after this, and before the provider gives it up where it announces when:
 * a request on one that was just closed at the other end would fail. Without a value here Node heeds no announcement.
 */
const unusedMs = 50_000

export type Upstream = {
  /**
   * Sends the request on as it arrives and resolves with the provider's answer, whose body is still to be
   * read. Rejects with `Refused` for what is not let through, `UpstreamDown` when the provider cannot be
   * reached, and the signal's reason.
   */
  send(
    request: IncomingMessage,
    to: { url: URL; headers: Record<string, string | string[]> },
    options: { checkModel: ((model: string) => boolean) | null; signal: AbortSignal },
  ): Promise<{ reply: IncomingMessage; model: string | null; requestBytes: number }>
  close(): void
}

/** Connections to providers are kept: a handshake for each request would cost more than all else here. */
export function createUpstream(): Upstream {
  const options = {
    ...{ keepAlive: true, maxSockets: 512, maxFreeSockets: 64, scheduling: 'lifo' as const },
    timeout: unusedMs,
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
      // Looked at below; an early answer or fault must not count as unhandled meanwhile.
      answered.catch(() => {})
      try {
        const { model, size } = await pump(request, upstream, { checkModel, answered })
        return { reply: await answered, model, requestBytes: size }
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
 * Hands the body on piece by piece. A piece that names a model which is not offered is held back, and the
 * provider never sees the whole request; so nothing has to be kept until the model is found.
 */
async function pump(
  request: IncomingMessage,
  upstream: ClientRequest,
  options: { checkModel: ((model: string) => boolean) | null; answered: Promise<unknown> },
): Promise<{ model: string | null; size: number }> {
  const { checkModel, answered } = options
  const scanner = checkModel ? createModelScanner() : null
  let model: string | null = null
  let size = 0
  let isAnswered = false
  const early = answered.then(
    () => {
      isAnswered = true
    },
    () => {
      isAnswered = true
    },
  )
  // A refusal must not end the connection before its answer is written.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    const chunk = piece as Buffer
    size += chunk.length
    if (size > maxRequestBytes) throw new Refused(413, 'The request is larger than 64 MiB.')
    for (const named of scanner?.feed(chunk) ?? []) {
      if (checkModel && !checkModel(named)) throw new Refused(404, notOffered(named))
      model = named
    }
    // A provider that has answered already reads no further.
    if (isAnswered) break
    if (!upstream.write(chunk)) await Promise.race([drained(upstream), early])
  }
  upstream.end()
  return { model, size }
}

export function notOffered(model: string): string {
  return `model: "${model.slice(0, 200)}" is not of a family that this platform offers (claude-, gemini-, gpt-, codex).`
}
