import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An MCP server with one tool, `ping`, that records its callers. */
export type TestMcp = {
  url: string
  /** Bearer token and method of each request. */
  requests: { bearer: string; method: string }[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function startTestMcp(): Promise<TestMcp> {
  const requests: TestMcp['requests'] = []
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const bearer = (request.headers.authorization ?? '').replace('Bearer ', '')
    requests.push({ bearer, method: String(body.method ?? request.method) })
    const result = answerTo(body)
    if (request.method !== 'POST' || body.id === undefined) {
      response.writeHead(request.method === 'POST' ? 202 : 405).end()
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        result
          ? { jsonrpc: '2.0', id: body.id, result }
          : { jsonrpc: '2.0', id: body.id, error: { code: -32601, message: 'Method not found' } },
      ),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function answerTo({ method }: { method?: unknown }): object | null {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'roost', version: '1' },
      }
    case 'tools/list':
      return {
        tools: [
          { name: 'ping', description: 'Returns pong', inputSchema: { type: 'object', properties: {} } },
        ],
      }
    case 'tools/call':
      return { content: [{ type: 'text', text: 'pong' }] }
    default:
      return null
  }
}

async function bodyOf(request: IncomingMessage): Promise<{ id?: unknown; method?: unknown }> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const text = Buffer.concat(pieces).toString('utf8')
  return text === '' ? {} : JSON.parse(text)
}
