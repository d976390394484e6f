import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '../ports/log.ts'
import { forwarding } from './forward.ts'
import { createStreams } from './streams.ts'

/** A listener that forwards `/mcp` to `port`. */
async function listening(port: number) {
  const rest = () => assert.fail('not forwarded')
  const server = createServer(
    forwarding(
      { path: '/mcp', url: `http://127.0.0.1:${port}`, streams: createStreams(), log: silentLog },
      rest,
    ),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

test('503 mcp_unavailable has the retry time in header and body, and the request id', async () => {
  const closed = createServer()
  await once(closed.listen(0, '127.0.0.1'), 'listening')
  const port = portOf(closed)
  await once(closed.close(), 'close')
  await using open = await listening(port)
  const reply = await fetch(open.url, { method: 'POST', headers: { 'x-request-id': 'my-id' } })
  assert.equal(reply.status, 503)
  assert.equal(reply.headers.get('retry-after'), '2')
  assert.equal(reply.headers.get('x-request-id'), 'my-id')
  const { error, retry_after_seconds } = (await reply.json()) as Record<string, unknown>
  assert.deepEqual({ error, retry_after_seconds }, { error: 'mcp_unavailable', retry_after_seconds: 2 })
})

test('a forwarded request and its response have the request id', async () => {
  const received: IncomingHttpHeaders[] = []
  const tools = createServer(({ headers }, response) => {
    received.push(headers)
    response.end('{}')
  })
  await once(tools.listen(0, '127.0.0.1'), 'listening')
  try {
    await using open = await listening(portOf(tools))
    const reply = await fetch(open.url, { method: 'POST', headers: { 'x-request-id': 'not fit' } })
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(received[0]?.['x-request-id'], reply.headers.get('x-request-id'))
  } finally {
    tools.closeAllConnections()
    tools.close()
  }
})
