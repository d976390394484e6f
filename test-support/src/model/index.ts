import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExchange } from './exchange.ts'
import { createHolds } from './holds.ts'
import { createRequestLog, type SeenRequest } from './log.ts'

export type { KeyKind, LoggedRequest, SeenRequest } from './log.ts'

export type ModelServerOptions = {
  /** Default 0: any free port. */
  port?: number
  /** Default 127.0.0.1. */
  host?: string
  /** Each request is appended as one JSON line, including its keys, which tests look for. */
  logFile?: string
  /** Greets, and knows the messages of the demo agents. */
  demo?: boolean
}

export type ModelServer = {
  /** Without a trailing slash. */
  url: string
  port: number
  /** All requests so far, oldest first; the list grows. */
  requests: readonly SeenRequest[]
  /**
   * Returns the first past or future request that matches; checked again when an answer ends. Rejects after
   * `timeoutMs` (default one minute) and when the server closes.
   */
  waitForRequest: (
    predicate: (request: SeenRequest) => boolean,
    options?: { timeoutMs?: number },
  ) => Promise<SeenRequest>
  /** Releases present and future answers held by `[[hold:KEY]]`. */
  release: (key: string) => void
  /** Stops listening and aborts running answers. */
  close: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Starts the scripted model server with the Anthropic Messages API, Gemini's generateContent and the OpenAI
 * Responses API. It answers as the directives in the user's text specify. Rejects when it cannot listen or
 * log.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, host = '127.0.0.1', logFile, demo = false } = options
  const log = createRequestLog(logFile ?? null)
  const holds = createHolds()
  const exchange = createExchange(log, holds, demo)
  const closing = new AbortController()
  const running = new Set<Promise<void>>()

  const server = createServer((request, response) => {
    const disconnected = new AbortController()
    response.once('close', () => disconnected.abort())
    // A client that disconnects during a write is not an error.
    response.on('error', () => disconnected.abort())
    request.on('error', () => disconnected.abort())
    const done = exchange(request, response, AbortSignal.any([disconnected.signal, closing.signal]))
      // Only logging can fail here (a full disk): this request stays unanswered, others continue.
      .catch(() => void response.destroy())
      .finally(() => running.delete(done))
    running.add(done)
  })
  // Longer than clients keep idle connections; an earlier close would fail their next request.
  server.keepAliveTimeout = 120_000
  server.requestTimeout = 0

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: 1024 }, resolve)
  }).catch((cause: unknown) => {
    log.close()
    throw cause
  })
  const address = server.address() as AddressInfo // listens on a port, not on a pipe
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    closing.abort()
    server.closeAllConnections()
    await Promise.all([closed, ...running])
    log.close()
  }

  return {
    url: `http://${shown}:${address.port}`,
    port: address.port,
    requests: log.requests,
    waitForRequest: (predicate, { timeoutMs = 60_000 } = {}) => log.waitFor(predicate, timeoutMs),
    release: holds.release,
    close,
    [Symbol.asyncDispose]: close,
  }
}
