import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { silentLog } from '../ports/log.ts'
import { forwarding } from './forward.ts'
import { listen } from './listen.ts'
import { route, streamAnswer } from './route.ts'
import { createServer } from './serve.ts'
import { serveSockets } from './sockets.ts'
import { createStreams } from './streams.ts'

/** Longer than any test may take, so that a stop that ends earlier did not wait for its end. */
const graceMs = 600_000
const base = { method: 'GET', tag: 'Test', summary: 'Test', access: { who: 'none' } } as const
const events = endpoint({ ...base, id: 'events', path: '/events', streams: ['text/event-stream'] })
const slow = endpoint({ ...base, id: 'slow', path: '/slow', returns: z.object({ text: z.string() }) })

/** A public listener like the platform's, with a tool server behind `/mcp`. */
async function open() {
  const streams = createStreams()
  const begun = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const app = createServer({
    routes: [
      route(events, async ({ request: { signal } }) => streamAnswer('text/event-stream', untilEnded(signal))),
      route(slow, async () => {
        begun.resolve()
        await finished.promise
        return { text: 'whole' }
      }),
    ],
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    streams,
  })
  await app.ready()
  const tools = createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  })
  await once(tools.listen(0, '127.0.0.1'), 'listening')
  const forwarded = { path: '/mcp', url: `http://127.0.0.1:${portOf(tools)}`, streams, log: silentLog }
  const open = await listen(
    { host: '127.0.0.1', port: 0 },
    forwarding(forwarded, (request, response) => app.routing(request, response)),
  )
  serveSockets(
    open.server,
    [{ path: '/ws', maxPayload: 1000, admit: async () => ({ open() {} }) }],
    silentLog,
  )
  return {
    streams,
    begun: begun.promise,
    finish: finished.resolve,
    close: open.close,
    port: portOf(open.server),
    url: `http://127.0.0.1:${portOf(open.server)}`,
    async [Symbol.asyncDispose]() {
      finished.resolve()
      await open.close(0)
      await app.close()
      tools.closeAllConnections()
      tools.close()
    },
  }
}

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

async function* untilEnded(signal: AbortSignal) {
  yield 'data: first\n\n'
  if (!signal.aborted) await once(signal, 'abort')
}

/** Resolves after the first chunk, with a promise of the whole text. */
async function stream(url: string): Promise<{ text: Promise<string> }> {
  const [reply] = (await once(get(url), 'response')) as [IncomingMessage]
  return {
    text: reply
      .setEncoding('utf8')
      .toArray()
      .then((pieces) => pieces.join('')),
  }
}

test('a stop does not wait for streams, sockets or idle connections, and completes running responses', async () => {
  await using world = await open()
  const unknown = await fetch(`${world.url}/unknown`)
  await unknown.text()
  const silent = connect(world.port, '127.0.0.1')
  await once(silent, 'connect')
  const socket = new WebSocket(`ws://127.0.0.1:${world.port}/ws`)
  socket.on('error', () => {})
  await once(socket, 'open')
  const followed = await stream(`${world.url}/events`)
  const listened = await stream(`${world.url}/mcp`)
  const slow = fetch(`${world.url}/slow`)
  await world.begun

  const socketClosed = once(socket, 'close')
  world.streams.endAll()
  const closed = world.close(graceMs)
  assert.equal(await followed.text, 'data: first\n\n')
  assert.equal(await listened.text, '')
  world.finish()
  assert.deepEqual(await (await slow).json(), { text: 'whole' })
  await closed
  await socketClosed
})

test('a stream opened while the platform stops ends immediately', async () => {
  await using world = await open()
  world.streams.endAll()
  assert.equal(await (await stream(`${world.url}/events`)).text, 'data: first\n\n')
  assert.equal(await (await stream(`${world.url}/mcp`)).text, '')
})
