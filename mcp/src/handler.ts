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
import { hasMoreValues } from '@roost/contracts/kit/json-values'
import { defaultMaxValues } from '@roost/contracts/kit/primitives'
import { requestIdOf } from '@roost/contracts/kit/request-id'
import type { Caller, KeyCheck } from './keys.ts'
import type { createServerFactory } from './server.ts'
import { createSessionIds } from './session-ids.ts'
import { createSessions, type EndedSessions, type Sessions } from './sessions.ts'

export type HandlerDeps = {
  keys: KeyCheck
  /** A client of the API without a credential. */
  api: Client
  createServer: ReturnType<typeof createServerFactory>
  clock: { now(): number }
  keepaliveMs: number
  ended: EndedSessions
  /** Equal in all processes of the installation. */
  secret: string
  /** Public host names of the platform, without ports. */
  hostNames: readonly string[]
  failed(error: unknown): void
}

export type Handler = {
  listener: RequestListener
  /** Frees idle sessions. */
  sweep(): Promise<void>
  toolsChanged(): Promise<void>
  close(): Promise<void>
}

/** Largest request in bytes: a report of an agent plus overhead. */
const maxRequestBytes = 6 * 1024 * 1024
/** The SDK validates each value several times, which blocks all other requests. */
const maxValues = defaultMaxValues

/**
 * Serves `/mcp` for both protocol eras: single requests (2026-07-28) and sessions (earlier). The bearer key of
 * each request identifies the caller.
 */
export function createHandler(deps: HandlerDeps): Handler {
  // Only a request or session refers to its caller, so memory does not grow with the number of keys.
  const ids = createSessionIds(deps.secret)
  const sessions: Sessions = createSessions({ ...deps, serverFor: deps.createServer, ids })
  const modern = createMcpHandler(({ authInfo }) => deps.createServer(() => callerOf(authInfo)), {
    legacy: 'reject',
    onerror: deps.failed,
    keepAliveMs: deps.keepaliveMs,
    maxRequestBodySize: maxRequestBytes,
  })

  const fetchFor = (keyId: string, caller: Caller) => async (request: Request) => {
    const rejection = rejectForeignOrigin(request, deps.hostNames)
    if (rejection) return rejection
    const json = request.method === 'POST' ? await request.clone().bytes() : new Uint8Array()
    if (hasMoreValues(json, maxValues)) return tooManyValues()
    const parsedBody = parse(json)
    if (await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxRequestBytes })) {
      return sessions.handle(request, { keyId, caller }, parsedBody)
    }
    return modern.fetch(request, { authInfo: authInfoOf(keyId, caller), parsedBody })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = bearerOf(request.headers.authorization)
    const key = token === null ? null : await deps.keys.check(token)
    if (token === null || !key) return refuse(response)
    const caller = key.details && { key: key.details, api: deps.api.withToken(token) }
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
      if (path === '/health') return send(response, 200, { status: 'ok', sessions: sessions.size() })
      if (path !== '/mcp') return sendError(response, 404, 'not_found', 'Not found.')
      serve(request, response).catch((error: unknown) => {
        deps.failed(error)
        if (response.headersSent) return void response.destroy()
        sendError(response, 503, 'platform_unreachable', 'The platform cannot be reached.')
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

/** The data that the SDK passes from a request to its protocol server. */
function authInfoOf(clientId: string, caller: Caller): AuthInfo {
  return { token: '', clientId, scopes: [], extra: { caller } }
}

function callerOf(info: AuthInfo | undefined): Caller {
  // Set by `authInfoOf`.
  return (info?.extra?.caller as Caller | undefined) ?? null
}

function bearerOf(header: string | undefined): string | null {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header ?? '')?.[1] ?? null
}

function refuse(response: ServerResponse): void {
  response.setHeader('www-authenticate', 'Bearer realm="roost"')
  sendError(response, 401, 'invalid_token', 'A valid MCP key is required as bearer token.')
}

/**
 * Reads and discards a body that is too large. An early response would close the connection before the client
 * reads it.
 */
function refuseTooLarge(request: IncomingMessage, response: ServerResponse): void {
  const error = { code: -32_000, message: `A request must not exceed ${maxRequestBytes} bytes.` }
  request.once('end', () => send(response, 413, { jsonrpc: '2.0', error, id: null }))
  request.resume()
}

function tooManyValues(): Response {
  const error = { code: -32_600, message: `A request must not hold more than ${maxValues} values.` }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 })
}

/** Returns undefined for invalid JSON, which the SDK reads again and refuses. */
function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json))
  } catch {
    return undefined
  }
}

/** Sends the error body of the API, with the request id. */
function sendError(response: ServerResponse, status: number, error: string, detail: string): void {
  send(response, status, { detail, error, request_id: response.getHeader('x-request-id') })
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}

/**
 * Prevents DNS rebinding: a foreign page must not reach the platform under its own host name. Allows the
 * platform's host names and a literal address, for the host and for the origin.
 */
function rejectForeignOrigin(request: Request, hostNames: readonly string[]): Response | null {
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
