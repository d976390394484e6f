import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExchange } from './exchange.ts'
import { createHolds } from './holds.ts'
import { createRequestLog, type SeenRequest } from './log.ts'

export type { KeyKind, LoggedRequest, SeenRequest } from './log.ts'

export type ModelServerOptions = {
  /** 0, the default, takes any free port. */
  port?: number
  /** Default 127.0.0.1. */
  host?: string
  /** Each request is appended here as one JSON line. Keys stand in it: they are what tests look for. */
  logFile?: string
}

export type ModelServer = {
  /** Without a closing slash. */
  url: string
  port: number
  /** All requests so far, oldest first; the list grows. */
  requests: readonly SeenRequest[]
  /**
   * The first request, past or to come, that the predicate takes; asked again when an answer has ended. Rejects
   * after `timeoutMs` (default a minute) and when the server closes.
   */
  waitForRequest: (
    predicate: (request: SeenRequest) => boolean,
    options?: { timeoutMs?: number },
  ) => Promise<SeenRequest>
  /** Lets the answers go that `[[hold:KEY]]` keeps, and those to come. */
  release: (key: string) => void
  /** Stops listening and breaks off what is still being answered. */
  close: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Starts the scripted model server: it speaks the Anthropic Messages API, Gemini's generateContent and the OpenAI
 * Responses API, and answers as the directives in the user's text say. Rejects when it cannot listen or log.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, host = '127.0.0.1', logFile } = options
  const log = createRequestLog(logFile ?? null)
  const holds = createHolds()
  const exchange = createExchange(log, holds)
  const closing = new AbortController()
  const running = new Set<Promise<void>>()

  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    // A client that leaves while it is written to is no fault of this server.
    response.on('error', () => gone.abort())
    request.on('error', () => gone.abort())
    const done = exchange(request, response, AbortSignal.any([gone.signal, closing.signal]))
      // What is left to fail is the log (a full disk): its request goes without an answer, the others go on.
      .catch(() => void response.destroy())
      .finally(() => running.delete(done))
    running.add(done)
  })
  // Longer than any client keeps an idle connection: closing first would make its next request fail.
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
