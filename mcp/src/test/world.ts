import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { KeyScope } from '@roost/contracts/kit/access'
import { serveMcp } from '../serve.ts'
import type { ExposedAgent } from '../tools/chat.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read results field by field
export type Loose = any

/** The credential of the MCP server on the internal listener. */
export const internalSecret = 'the-internal-secret-of-this-test'

export type ApiRequest = {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Loose
  /** Aborts when the MCP server cancels this request. */
  signal: AbortSignal
}
export type Answer = { status?: number; body: object }

export type World = Awaited<ReturnType<typeof startWorld>>

/** The MCP server in front of an API whose responses the test defines. Records its requests and their keys. */
export async function startWorld({
  waitSeconds = 1,
  exposed = [],
  otherwise = refuse,
}: {
  waitSeconds?: number
  exposed?: readonly ExposedAgent[]
  /** Handles requests without a route. */
  otherwise?: (request: ApiRequest) => Answer
} = {}) {
  const requests: ApiRequest[] = []
  const routes = new Map<string, (request: ApiRequest) => Answer | Promise<Answer>>()
  const keys = new Map<string, { scope: KeyScope; agent_name: string | null }>()
  const lines: string[] = []
  const clock = { time: 0, now: () => clock.time }

  const api = createServer(async (request, response) => {
    const closed = new AbortController()
    response.once('close', () => closed.abort())
    const { method = '', url = '', headers } = request
    const [path = ''] = url.split('?', 1)
    let text = ''
    for await (const chunk of request) text += chunk
    const call = { method, path: url, headers, body: text ? JSON.parse(text) : null, signal: closed.signal }
    requests.push(call)
    const answer = await (routes.get(`${method} ${path}`) ?? otherwise)(call)
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  const apiPort = await listening(api)

  routes.set('POST /api/mcp/validate', ({ headers }) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? ''
    const key = keys.get(token)
    if (!key) return { status: 401, body: { detail: 'No such key.', error: 'invalid_token' } }
    const fields = { valid: true, key_id: token, key_name: `name of ${token}`, user_id: 'u1' }
    return { body: { ...fields, ...key, user_email: null, role: 'user' } }
  })
  routes.set('GET /api/internal/mcp-exposed-agents', ({ headers }) =>
    headers.authorization === `Bearer ${internalSecret}`
      ? { body: { agents: exposed } }
      : { status: 401, body: { detail: 'The token is not valid.', error: 'invalid_token' } },
  )
  routes.set('POST /api/internal/mcp-sessions/ended', () => ({ body: { ended: [] } }))
  routes.set('POST /api/internal/audit', () => ({ status: 204, body: {} }))

  const url = `http://127.0.0.1:${apiPort}`
  const log = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }))
  const server = await serveMcp(
    {
      host: '127.0.0.1',
      port: 0,
      apiUrl: url,
      internalUrl: url,
      internalSecret,
      baseUrl: 'http://localhost',
      hostNames: [],
      waitSeconds,
      keepaliveSeconds: 15,
      version: '0.0.0',
    },
    { info: log, warn: log },
    clock,
  )
  const clients: Client[] = []

  return {
    requests,
    routes,
    keys,
    lines,
    clock,
    /** Creates a valid key of a scope. */
    key(scope: KeyScope, agent_name: string | null = null): string {
      const token = `svc_mcp_${scope}_${keys.size}`
      keys.set(token, { scope, agent_name })
      return token
    },
    /** A client of one protocol era; `headers` are sent with every request and may be changed in between. */
    async connect(
      token: string,
      way: 'sessions' | 'modern' = 'sessions',
      headers: Record<string, string> = {},
    ): Promise<Client> {
      const mode = way === 'modern' ? ({ pin: '2026-07-28' } as const) : 'legacy'
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      headers.authorization = `Bearer ${token}`
      const address = new URL(`http://127.0.0.1:${server.port}/mcp`)
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
      clients.push(client)
      return client
    },
    /** Starts a session and returns its id. */
    async begin(token: string, protocolVersion = '2025-06-18'): Promise<string> {
      const clientInfo = { name: 'raw', version: '1' }
      const params = { protocolVersion, capabilities: {}, clientInfo }
      const begun = await this.post(token, { id: 0, method: 'initialize', params })
      return begun.headers.get('mcp-session-id') ?? assert.fail('no session')
    },
    /** Sends one message or a batch without a client. */
    async post(token: string, message: object, headers: Record<string, string> = {}) {
      const response = await fetch(`http://127.0.0.1:${server.port}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message }),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    stopApi: () => stopped(api),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(clients.map((client) => client.close()))
      await server.close()
      await stopped(api)
    },
  }
}

/** Returns the result of a call, and whether it is an error. Checks that text and structured content are equal. */
export async function call(
  client: Client,
  name: string,
  input: object = {},
  options: object = {},
): Promise<Loose> {
  const result: Loose = await client.callTool({ name, arguments: { ...input } }, options)
  const content = JSON.parse(result.content[0].text)
  if (!result.isError || result.structuredContent) assert.deepEqual(content, result.structuredContent)
  return { ...content, isError: result.isError ?? false }
}

function refuse({ method, path }: ApiRequest): Answer {
  return { status: 404, body: { detail: `${method} ${path}`, error: 'not_found' } }
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

async function stopped(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((done) => server.close(() => done()))
}
