import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { Client } from '@roost/contracts/client'
import { requestIdOf } from '@roost/contracts/kit/request-id'
import type { Caller, KeyCheck } from './keys.ts'
import type { createServerFactory } from './server.ts'
import { createSessions, type Sessions } from './sessions.ts'

export type HandlerDeps = {
  keys: KeyCheck
  /** The API without a credential. */
  api: Client
  createServer: ReturnType<typeof createServerFactory>
  clock: { now(): number }
  /** Names under which people reach the platform, without ports. */
  hostNames: readonly string[]
  failed(error: unknown): void
}

export type Handler = {
  listener: RequestListener
  /** Ends idle sessions. */
  sweep(): Promise<void>
  toolsChanged(): Promise<void>
  close(): Promise<void>
}

/** Largest request, bytes: a report of an agent, with room around its payload. */
const maxRequestBytes = 6 * 1024 * 1024

/**
 * `/mcp`, in both ways in which clients speak it: each request for itself (2026-07-28), and within a session
 * (before that). Whoever asks is known by the bearer key of each request.
 */
export function createHandler(deps: HandlerDeps): Handler {
  // A caller is held by its request and its session alone, so that nothing of a key outlives them.
  const sessions: Sessions = createSessions({ serverFor: deps.createServer, clock: deps.clock })
  const modern = createMcpHandler(({ authInfo }) => deps.createServer(() => callerOf(authInfo)), {
    legacy: 'reject',
    onerror: deps.failed,
    maxRequestBodySize: maxRequestBytes,
  })

  const fetchFor = (keyId: string, caller: Caller) => async (request: Request) => {
    const refused = refusedOrigin(request, deps.hostNames)
    if (refused) return refused
    if (await isLegacyRequest(request, undefined, { maxRequestBodySize: maxRequestBytes })) {
      return sessions.handle(request, { keyId, caller })
    }
    return modern.fetch(request, { authInfo: authInfoOf(keyId, caller) })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = bearerOf(request.headers.authorization)
    const key = token === null ? null : await deps.keys.check(token)
    if (token === null || !key) return refuse(response)
    const caller = key.facts && { key: key.facts, api: deps.api.withToken(token) }
    if (Number(request.headers['content-length']) > maxRequestBytes) return refuseTooLarge(request, response)
    const node = toNodeHandler(
      { fetch: fetchFor(key.id, caller) },
      { onerror: deps.failed, maxRequestBodySize: maxRequestBytes },
    )
    await node(request, response)
  }

  return {
    listener(request, response) {
      response.setHeader('x-request-id', requestIdOf(request.headers['x-request-id'], randomUUID))
      const path = request.url?.split('?', 1)[0]
      if (path === '/health') return answer(response, 200, { status: 'ok', sessions: sessions.size() })
      if (path !== '/mcp') return answerError(response, 404, 'not_found', 'Not found.')
      serve(request, response).catch((error: unknown) => {
        deps.failed(error)
        if (response.headersSent) return void response.destroy()
        answerError(response, 503, 'platform_unreachable', 'The platform cannot be reached.')
      })
    },
    sweep: () => sessions.sweep(),
    async toolsChanged() {
      modern.notify.toolsChanged()
      await sessions.toolsChanged()
    },
    async close() {
      await Promise.all([sessions.close(), modern.close()])
    },
  }
}

/** What the SDK hands from a request to the protocol server that answers it. */
function authInfoOf(clientId: string, caller: Caller): AuthInfo {
  return { token: '', clientId, scopes: [], extra: { caller } }
}

function callerOf(info: AuthInfo | undefined): Caller {
  // Put there by `authInfoOf`.
  return (info?.extra?.caller as Caller | undefined) ?? null
}

function bearerOf(header: string | undefined): string | null {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header ?? '')?.[1] ?? null
}

function refuse(response: ServerResponse): void {
  response.setHeader('www-authenticate', 'Bearer realm="roost"')
  answerError(response, 401, 'invalid_token', 'A valid MCP key is needed as bearer token.')
}

/**
 * What is too large is read and thrown away: an answer in the middle of it ends the connection, and who still writes
 * never sees the answer.
 */
function refuseTooLarge(request: IncomingMessage, response: ServerResponse): void {
  const error = { code: -32_000, message: `A request must not exceed ${maxRequestBytes} bytes.` }
  request.once('end', () => answer(response, 413, { jsonrpc: '2.0', error, id: null }))
  request.resume()
}

/** In the form of the API's errors, which names the request. */
function answerError(response: ServerResponse, status: number, error: string, detail: string): void {
  answer(response, status, { detail, error, request_id: response.getHeader('x-request-id') })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}

/**
 * A page of somebody else must not reach the platform through a browser by giving its own name this machine's
 * address: names are those of the platform, and an address that was asked is no name. Pages come from there too.
 */
function refusedOrigin(request: Request, hostNames: readonly string[]): Response | null {
  const host = hostnameOf(`http://${request.headers.get('host')}`)
  const allowed = host !== null && isAddress(host) ? [...hostNames, host] : [...hostNames]
  return hostHeaderValidationResponse(request, allowed) ?? originValidationResponse(request, allowed) ?? null
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null
}

function isAddress(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || /^\[[0-9a-f:.]+\]$/i.test(host)
}
