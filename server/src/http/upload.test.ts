import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { listen } from './listen.ts'
import { route } from './route.ts'
import { createServer } from './serve.ts'

const upload = endpoint({
  id: 'upload',
  method: 'POST',
  path: '/upload',
  summary: 'Test',
  tag: 'Test',
  access: { who: 'none' },
  bodyKind: 'stream',
  query: z.object({ refused: z.string().optional() }),
  body: z.custom<AsyncIterable<Uint8Array>>(),
  returns: z.object({ bytes: z.number(), largest: z.number() }),
  fails: ['invalid_archive'],
})

async function open(limits: Parameters<typeof listen>[2] = {}) {
  const app = createServer({
    routes: [
      route(upload, async ({ body, query }) => {
        let [bytes, largest] = [0, 0]
        for await (const piece of body) {
          if (query.refused !== undefined) throw new Fault('invalid_archive')
          bytes += piece.length
          largest = Math.max(largest, piece.length)
        }
        return { bytes, largest }
      }),
    ],
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
  await app.ready()
  const listening = await listen({ host: '127.0.0.1', port: 0 }, (...both) => app.routing(...both), limits)
  const address = listening.server.address()
  assert.ok(typeof address === 'object' && address)
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/upload`,
    [Symbol.asyncDispose]: async () => {
      await listening.close(0)
      await app.close()
    },
  }
}

test('a body above every limit arrives in pieces, with any content type', async () => {
  await using server = await open()
  const body = new Uint8Array(40_000_000)
  for (const type of ['application/octet-stream', 'application/json', 'text/html']) {
    const response = await fetch(server.url, { method: 'POST', body, headers: { 'content-type': type } })
    const { bytes, largest } = (await response.json()) as { bytes: number; largest: number }
    assert.deepEqual([response.status, bytes], [200, body.length], type)
    assert.ok(largest <= 1024 * 1024, `${largest} bytes in one piece`)
  }
  const empty = await fetch(server.url, { method: 'POST' })
  assert.deepEqual(await empty.json(), { bytes: 0, largest: 0 })
})

test('a refusal in the middle reaches the client, which is still sending', async () => {
  await using server = await open()
  const body = new Uint8Array(40_000_000)
  const response = await fetch(`${server.url}?refused=1`, { method: 'POST', body })
  assert.equal(response.status, 422)
  assert.equal(((await response.json()) as { error: string }).error, 'invalid_archive')
})

test('a stream may take longer than other requests, and only the stream', async () => {
  await using server = await open({
    requestTimeout: 200,
    headersTimeout: 200,
    connectionsCheckingInterval: 20,
  })
  const head = 'POST /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  const slow = connect(server.port, '127.0.0.1')
  slow.write(`${head}1\r\na\r\n`)
  // A request without a stream that started later is over first.
  const other = connect(server.port, '127.0.0.1')
  other.write('POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na')
  assert.match(await text(other), /request_timeout/)
  slow.write('1\r\nb\r\n0\r\n\r\n')
  assert.match(await text(slow), /^HTTP\/1\.1 200 .*\{"bytes":2,"largest":1\}/s)
})
