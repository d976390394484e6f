import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { RuntimeName } from '@roost/contracts/link/messages'
import { openTestDatabase } from '../../../test/dialects.ts'
import { accept, linked, startRunPlatform } from '../../../test/run-platform.ts'

export type Upstream = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  options: ServerOptions = {},
) {
  const server = createServer(options, handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Connections stay open until the other end closes them. */
export const neverCloses = { keepAliveTimeout: 0 }

/** A broker with one running run, and a provider that a test defines. */
export async function start(
  options: { upstream?: Upstream; providerUrl?: string; providerKey?: string | null } = {},
) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
  const providerUrl =
    options.providerUrl ??
    (await listen(async (request, response) => {
      const parts: Buffer[] = []
      try {
        for await (const part of request) parts.push(part as Buffer)
      } catch {
        return
      }
      const body = Buffer.concat(parts)
      requests.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: body.toString(),
      })
      ;(options.upstream ?? respond)(request, response, body)
    }, neverCloses))
  const platform = await startRunPlatform({ db: await openTestDatabase(), providerUrl, ...options })
  after(() => platform.broker.close())
  const url = await listen((request, response) => void platform.broker.handle(request, response))
  const row = await accept(platform)
  const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
  const run = runs[0] ?? assert.fail('no run was claimed')
  /** A request of an agent whose runtime uses this provider. */
  const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) => {
    platform.runtime.name = runtimeFor(path)
    return fetch(`${url}/broker/${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'claude-x', messages: [] }),
      ...init,
      headers: { 'x-api-key': run.broker.token, 'content-type': 'application/json', ...init.headers },
    })
  }
  return { platform, url, row, run, ask, requests }
}

/** The runtime whose provider has this path. */
export function runtimeFor(path: string): RuntimeName {
  if (path.startsWith('google')) return 'gemini-cli'
  return path.startsWith('openai') ? 'codex' : 'claude-code'
}

type ProviderError = {
  type?: string
  error: { type: string; message: string; status?: string; code?: string }
}
export async function bodyOf(reply: Response): Promise<ProviderError> {
  return (await reply.json()) as ProviderError
}

export const respond: Upstream = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'r1' })
  response.end(
    JSON.stringify({ type: 'message', model: 'claude-x', usage: { input_tokens: 100, output_tokens: 10 } }),
  )
}
