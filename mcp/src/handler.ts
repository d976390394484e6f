import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { Client } from '@roost/contracts/client'
import type { Caller, CheckedKey, KeyCheck } from './keys.ts'
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
  /** Tokens of this moment by their key's id; a protocol server is made for one caller. */
  const callers = new Map<string, Caller>()
  const serverFor = (keyId: string) => deps.createServer(() => callers.get(keyId) ?? null)
  const sessions: Sessions = createSessions({ serverFor, clock: deps.clock })
  const modern = createMcpHandler((context) => serverFor(context.authInfo?.clientId ?? ''), {
    legacy: 'reject',
    onerror: deps.failed,
    maxRequestBodySize: maxRequestBytes,
  })

  const fetchFor = (key: CheckedKey) => async (request: Request) => {
    const refused = refusedOrigin(request, deps.hostNames)
    if (refused) return refused
    if (await isLegacyRequest(request, undefined, { maxRequestBodySize: maxRequestBytes })) {
      return sessions.handle(request, key.id)
    }
    return modern.fetch(request, { authInfo: { token: '', clientId: key.id, scopes: [] } })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = bearerOf(request.headers.authorization)
    const key = token === null ? null : await deps.keys.check(token)
    if (token === null || !key) return refuse(response)
    callers.set(key.id, key.facts && { key: key.facts, api: deps.api.withToken(token) })
    if (Number(request.headers['content-length']) > maxRequestBytes) return refuseTooLarge(request, response)
    const node = toNodeHandler(
      { fetch: fetchFor(key) },
      { onerror: deps.failed, maxRequestBodySize: maxRequestBytes },
    )
    await node(request, response)
  }

  return {
    listener(request, response) {
      const path = request.url?.split('?', 1)[0]
      if (path === '/health') return answer(response, 200, { status: 'ok', sessions: sessions.size() })
      if (path !== '/mcp') return answer(response, 404, { detail: 'Not found.', error: 'not_found' })
      serve(request, response).catch((error: unknown) => {
        deps.failed(error)
        if (response.headersSent) return void response.destroy()
        answer(response, 503, { detail: 'The platform cannot be asked.', error: 'platform_unreachable' })
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

function bearerOf(header: string | undefined): string | null {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header ?? '')?.[1] ?? null
}

function refuse(response: ServerResponse): void {
  response.setHeader('www-authenticate', 'Bearer realm="roost"')
  answer(response, 401, { detail: 'A valid MCP key is needed as bearer token.', error: 'invalid_token' })
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
