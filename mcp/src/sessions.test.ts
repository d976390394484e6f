import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Server } from '@modelcontextprotocol/server'
import { createSessionIds } from './session-ids.ts'
import { createSessions, type EndedSessions } from './sessions.ts'

const k1 = { keyId: 'k1', caller: null }

/** What the API remembers for all processes. */
function createEnded() {
  const marks = new Set<string>()
  return {
    add: async (mark: string) => void marks.add(mark),
    of: async (asked: readonly string[]) => asked.filter((mark) => marks.has(mark)),
  }
}

function start(secret = 'secret', ended: EndedSessions = createEnded()) {
  const clock = { time: 0, now: () => clock.time }
  const servers: Server[] = []
  const serverFor = () => {
    const server = new Server({ name: 'x', version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler('tools/list', async () => ({ tools: [] }))
    servers.push(server)
    return server
  }
  const sessions = createSessions({
    serverFor,
    ids: createSessionIds(secret),
    clock,
    ended,
    keepaliveMs: 15_000,
  })
  const request = (body: object, session?: string, method = 'POST', signal: AbortSignal | null = null) =>
    new Request('http://localhost/mcp', {
      method,
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    })
  const begin = async (keyId = 'k1', client: object = {}) => {
    const clientInfo = { name: 'raw', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo, ...client }
    const initialize = request({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const response = await sessions.handle(
      initialize,
      { keyId, caller: null },
      await initialize.clone().json(),
    )
    await response.text()
    return response.headers.get('mcp-session-id') ?? assert.fail('no session')
  }
  let lastId = 1
  const list = async (session: string, keyId = 'k1') => {
    lastId += 1
    const response = await sessions.handle(
      request({ jsonrpc: '2.0', id: lastId, method: 'tools/list' }, session),
      { keyId, caller: null },
    )
    await response.text()
    return response.status
  }
  return { sessions, clock, begin, list, request, servers }
}

test('a session is available only to the key that started it', async () => {
  const { begin, list } = start()
  const session = await begin()
  assert.deepEqual([await list(session), await list(session, 'k2'), await list('none')], [200, 404, 404])
})

test('a session idle for half an hour is freed, unless a stream is open; its next request continues it', async () => {
  const { sessions, clock, begin, list, request } = start()
  const [idle, used, streaming] = [await begin(), await begin(), await begin()]
  const stream = await sessions.handle(request({}, streaming, 'GET'), k1)
  clock.time = 20 * 60_000
  await list(used)
  clock.time = 31 * 60_000
  await sessions.sweep()
  assert.equal(sessions.size(), 2)
  assert.deepEqual([await list(idle), await list(used), await list(streaming)], [200, 200, 200])
  assert.equal(sessions.size(), 3)
  await stream.body?.cancel()
  await sessions.close()
  assert.equal(sessions.size(), 0)
})

test('a client can end its session', async () => {
  const { sessions, begin, list, request } = start()
  const session = await begin()
  assert.equal((await sessions.handle(request({}, session, 'DELETE'), k1)).status, 200)
  assert.equal(await list(session), 404)
})

test('a request that fails to start a session stores no session', async () => {
  const { sessions, request } = start()
  const response = await sessions.handle(request({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), k1)
  assert.equal(response.status, 400)
  assert.equal(sessions.size(), 0)
})

test('a process holds at most two hundred sessions of one key, and those of other keys stay', async () => {
  const { sessions, clock, begin, list } = start()
  const [other, first, second] = [await begin('k2'), await begin(), await begin()]
  clock.time = 1
  await list(first)
  for (let more = 0; more < 199; more += 1) await begin()
  assert.equal(sessions.size(), 201)
  assert.deepEqual([await list(first), await list(second), await list(other, 'k2')], [200, 200, 200])
  assert.equal(sessions.size(), 201)
  await sessions.close()
})

test('a process holds at most two thousand sessions: the one idle longest is freed, its next request continues it', async () => {
  const { sessions, clock, begin, list, request, servers } = start()
  const [streaming, idle, used] = [await begin(), await begin(), await begin()]
  const stream = await sessions.handle(request({}, streaming, 'GET'), k1)
  clock.time = 1
  await list(used)
  const others = Array.from({ length: 1997 }, (_, at) => `k${2 + (at % 50)}`)
  for (const key of others) await begin(key)
  assert.equal(sessions.size(), 2000)
  await begin('k99')
  assert.equal(sessions.size(), 2000)
  assert.deepEqual(
    servers.slice(0, 3).map(({ transport }) => transport !== undefined),
    [true, false, true],
  )
  assert.equal(await list(idle), 200)
  assert.equal(sessions.size(), 2000)
  await stream.body?.cancel()
  await sessions.close()
})

test('a change of the tools is sent to open streams', async () => {
  const { sessions, begin, request } = start()
  const stream = await sessions.handle(request({}, await begin(), 'GET'), k1)
  const reader = stream.body?.getReader() ?? assert.fail('no stream')
  const read = async () => new TextDecoder().decode((await reader.read()).value)
  assert.equal(await read(), ': listening\n\n')
  await sessions.toolsChanged()
  assert.match(await read(), /notifications\/tools\/list_changed/)
  await reader.cancel()
  await sessions.close()
})

test('a client that loses its stream can open it again immediately', async () => {
  const { sessions, begin, request } = start()
  const session = await begin()
  const disconnect = new AbortController()
  const listen = (signal: AbortSignal | null) => sessions.handle(request({}, session, 'GET', signal), k1)
  const first = await listen(disconnect.signal)
  assert.equal((await listen(null)).status, 409)
  disconnect.abort()
  await assert.rejects(first.text())
  assert.equal((await listen(null)).status, 200)
  await sessions.close()
})

test('another process of the installation continues a session, of the same key only', async () => {
  const [first, second, foreign] = [start(), start(), start('another installation')]
  const session = await first.begin()
  assert.deepEqual([await second.list(session, 'k2'), await second.list(session)], [404, 200])
  assert.equal(await foreign.list(session), 404)
  assert.equal(await second.list(`${session.slice(0, -1)}_`), 404)
  // Requests that arrive together, and the stream, at a process that does not know the session.
  const third = start()
  const stream = await third.sessions.handle(third.request({}, session, 'GET'), k1)
  assert.deepEqual(
    await Promise.all([third.list(session), third.list(session), stream.status]),
    [200, 200, 200],
  )
  assert.equal(third.sessions.size(), 1)
  await stream.body?.cancel()
  await Promise.all([first, second, third].map(({ sessions }) => sessions.close()))
})

test('a session that its client ended is unknown to every process, and its streams end there', async () => {
  const ended = createEnded()
  const [first, second] = [start('secret', ended), start('secret', ended)]
  const session = await first.begin()
  const stream = await second.sessions.handle(second.request({}, session, 'GET'), k1)
  assert.equal(await second.list(session), 200)
  assert.equal((await first.sessions.handle(first.request({}, session, 'DELETE'), k1)).status, 200)
  await second.sessions.sweep()
  assert.equal(await stream.text(), ': listening\n\n')
  assert.deepEqual([await second.list(session), await first.list(session)], [404, 404])
  assert.deepEqual([first.sessions.size(), second.sessions.size()], [0, 0])
})

test('while the API cannot be asked, sessions go on, and an ended one stays ended in its process', async () => {
  const down = async () => Promise.reject(new Error('down'))
  const [first, second] = [start('secret', { add: down, of: down }), start('secret', { add: down, of: down })]
  const session = await first.begin()
  assert.equal(await second.list(session), 200)
  assert.equal((await first.sessions.handle(first.request({}, session, 'DELETE'), k1)).status, 200)
  assert.deepEqual([await first.list(session), await second.list(session)], [404, 200])
  await second.sessions.close()
})

test('a process keeps no more of a client than the id of its session carries', async () => {
  const long = 'x'.repeat(20_000)
  const small = { roots: { listChanged: true } }
  const { begin, sessions, servers } = start()
  await begin('k1', {
    protocolVersion: long,
    capabilities: { experimental: { long: { long } } },
    clientInfo: { name: long, version: long, title: long },
  })
  await begin('k1', { capabilities: small, _meta: { long } })
  const kept = servers.map((server) => [server.getClientCapabilities(), server.getClientVersion()])
  const name = long.slice(0, 100)
  assert.deepEqual(kept, [
    [{}, { name, version: name }],
    [small, { name: 'raw', version: '1' }],
  ])
  await sessions.close()
})

test('a client with long names and many capabilities gets an id that fits a header', async () => {
  const { begin, list, sessions } = start()
  const long = 'x'.repeat(20_000)
  const session = await begin('k1', {
    capabilities: { experimental: { long: { long } } },
    clientInfo: { name: long, version: long },
  })
  assert.ok(session.length < 6000)
  assert.equal(await list(session), 200)
  await sessions.close()
})
