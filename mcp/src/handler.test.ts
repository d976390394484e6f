import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createClient } from '@roost/contracts/client'
import { createHandler } from './handler.ts'
import { createServerFactory } from './server.ts'
import { tools } from './tools/index.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** A handler that tracks its callers: `held` counts those still in memory. */
async function startHandler() {
  const callers: WeakRef<object>[] = []
  const api = createClient('http://127.0.0.1:1')
  const clock = { time: 0, now: () => clock.time }
  const handler = createHandler({
    secret: 'secret',
    keepaliveMs: 15_000,
    ended: { add: async () => {}, of: async () => [] },
    keys: {
      check: async (token) => ({
        id: token,
        details: {
          valid: true,
          key_id: token,
          key_name: token,
          scope: 'user',
          user_id: 'u1',
          user_email: null,
          role: 'user',
          agent_name: null,
        },
      }),
    },
    api: {
      ...api,
      withToken(token) {
        const own = api.withToken(token)
        callers.push(new WeakRef(own))
        return own
      },
    },
    createServer: createServerFactory({
      version: '0.0.0',
      tools,
      exposed: { toolsFor: async () => [] },
      waitSeconds: 1,
      clock,
      called() {},
      failed() {},
    }),
    clock,
    hostNames: [],
    failed: (error) => assert.fail(String(error)),
  })
  const server = createServer(handler.listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)

  return {
    handler,
    clock,
    async connect(token: string, mode: 'legacy' | { pin: '2026-07-28' }) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      const transport = new StreamableHTTPClientTransport(address, { requestInit })
      await client.connect(transport)
      return { client, transport }
    },
    post: (body: string) =>
      fetch(address, {
        method: 'POST',
        headers: {
          authorization: 'Bearer raw',
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body,
      }),
    callers: () => callers.length,
    /** Returns the number of callers in memory after the connections are closed. Waits for `expected`. */
    async held(expected: number) {
      server.closeAllConnections()
      let held = Number.POSITIVE_INFINITY
      // Objects of a closed connection are released over several turns of the event loop.
      for (let turn = 0; turn < 50 && held > expected; turn += 1) {
        await new Promise<void>((done) => setImmediate(done))
        collectGarbage()
        held = callers.filter((ref) => ref.deref() !== undefined).length
      }
      return held
    },
    async [Symbol.asyncDispose]() {
      await handler.close()
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

test('a request with too many values is refused, and starts no session', async () => {
  await using world = await startHandler()
  const start = (count: number) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: { experimental: { many: { list: Array(count).fill(1) } } },
        clientInfo: { name: 'raw', version: '1' },
      },
    })
  const large = await world.post(start(50_000))
  assert.deepEqual([large.status, large.headers.get('mcp-session-id')], [400, null])
  assert.deepEqual(await large.json(), {
    jsonrpc: '2.0',
    error: { code: -32_600, message: 'A request must not hold more than 50000 values.' },
    id: null,
  })
  const ordinary = await world.post(start(40_000))
  assert.equal(ordinary.status, 200)
  assert.match(await ordinary.text(), /"serverInfo"/)
  const invalid = await world.post('{"jsonrpc":')
  assert.equal(invalid.status, 400)
  assert.match(await invalid.text(), /-32700/)
})

test('a caller without an open request or session is released from memory', async () => {
  await using world = await startHandler()
  for (const token of ['m1', 'm2', 'm3']) {
    const { client } = await world.connect(token, { pin: '2026-07-28' })
    await client.callTool({ name: 'get_agent_requirements', arguments: {} })
    await client.close()
  }
  for (const token of ['s1', 's2', 's3']) {
    const { client, transport } = await world.connect(token, 'legacy')
    await client.callTool({ name: 'get_agent_requirements', arguments: {} })
    await transport.terminateSession()
    await client.close()
  }
  assert.ok(world.callers() >= 12)
  assert.equal(await world.held(0), 0)
})

test('a session holds the caller of its newest request until it is swept', async () => {
  await using world = await startHandler()
  const { client } = await world.connect('s1', 'legacy')
  for (let count = 0; count < 5; count += 1) {
    await client.callTool({ name: 'get_agent_requirements', arguments: {} })
  }
  await client.close()
  assert.equal(await world.held(1), 1)
  world.clock.time = 31 * 60_000
  await world.handler.sweep()
  assert.equal(await world.held(0), 0)
})
