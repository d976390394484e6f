import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { createFakeClock } from '../kit/fake-clock.ts'
import type { Target } from './addresses.ts'
import { createLink, LinkDown } from './link.ts'

/** A process of the platform that answers every hello. */
async function startProcess() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hellos: Promise<WebSocket>[] = []
  const waiting: ((socket: WebSocket) => void)[] = []
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const { id, t } = JSON.parse(String(data))
      if (t !== 'hello') return
      socket.send(JSON.stringify({ re: id, settings: {}, acked: {}, drop: [], lease_seconds: 60 }))
      const next = waiting.shift()
      if (next) next(socket)
      else hellos.push(Promise.resolve(socket))
    })
  })
  const target: Target = { url: `ws://127.0.0.1:${port}/link`, host: '127.0.0.1', port, handshakeMs: 5000 }
  return {
    target,
    hello: () => hellos.shift() ?? new Promise<WebSocket>((found) => waiting.push(found)),
    close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
    },
  }
}

async function startLink({ hasSeveral }: { hasSeveral: boolean }) {
  const processes = [await startProcess(), await startProcess()] as const
  const clock = createFakeClock()
  const silent: number[] = []
  let tries = 0
  let ups = 0
  const link = createLink({
    key: 'key',
    clock,
    log: { info: () => {}, warn: () => {} },
    addresses: {
      hasSeveral: () => hasSeveral,
      reached: () => {},
      next: async () => processes[tries++ % 2 === 0 ? 0 : 1].target,
    },
    hello: () => ({
      protocol: 1,
      agent_name: 'a',
      image_version: null,
      runtime: 'claude-code',
      runtime_version: null,
      started_at: '',
      held: [],
    }),
    onUp() {
      ups += 1
    },
    onCall: async () => ({}),
    onSignal: () => {},
    onSilent: ({ port }) => void silent.push(port),
  })
  return {
    ...{ link, clock, silent, processes },
    ups: () => ups,
    [Symbol.dispose]() {
      link.close()
      for (const each of processes) each.close()
    },
  }
}

/** Moves the clock in steps of the pings, so that real answers arrive in between. */
async function pass(t: Awaited<ReturnType<typeof startLink>>, pings: number, answered?: WebSocket) {
  for (let count = 0; count < pings; count += 1) {
    const ping = answered && once(answered, 'ping')
    await t.clock.advance(2000)
    await ping
  }
}

test('a process of several that answers no pings is left within 8 s, for the next address', async () => {
  using t = await startLink({ hasSeveral: true })
  const [first, second] = t.processes
  const socket = await first.hello()
  assert.equal((await t.link.target(1000))?.port, first.target.port)
  await pass(t, 5, socket)
  assert.deepEqual(t.silent, [], 'answered pings keep the link')
  socket.pause()
  const beat = assert.rejects(t.link.call('beat', {}), LinkDown)
  await pass(t, 4)
  await beat
  assert.deepEqual(t.silent, [first.target.port])
  assert.equal(t.link.isUp(), false)
  const moved = t.link.target(10_000)
  await t.clock.advance(500)
  await second.hello()
  assert.equal((await moved)?.port, second.target.port)
  assert.equal(t.ups(), 2)
})

test('the only process of the platform is given 16 s', async () => {
  using t = await startLink({ hasSeveral: false })
  const socket = await t.processes[0].hello()
  await t.link.target(1000)
  socket.pause()
  await pass(t, 7)
  assert.deepEqual(t.silent, [])
  await pass(t, 1)
  assert.deepEqual(t.silent, [t.processes[0].target.port])
})

test('who waits for the platform learns after a while that there is none', async () => {
  using t = await startLink({ hasSeveral: true })
  const socket = await t.processes[0].hello()
  await t.link.target(1000)
  const closed = once(socket, 'close')
  socket.terminate()
  await closed
  for (const each of t.processes) each.close()
  while (t.link.isUp()) await t.clock.advance(1)
  const none = t.link.target(10_000)
  await t.clock.advance(10_000)
  assert.equal(await none, null)
})
