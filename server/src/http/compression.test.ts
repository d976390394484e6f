import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { endpoints } from '@roost/contracts'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { encodingFor, isCompressible } from './compression.ts'
import { keepingAlive } from './keepalive.ts'
import { answer, type Route, route, streamAnswer } from './route.ts'
import { createServer } from './serve.ts'

const base = { tag: 'Test', summary: 'Test', access: { who: 'any' }, method: 'GET' } as const
const texts = z.array(z.string())
const long = Array.from({ length: 200 }, (_, index) => `line ${index}`)

function serve(...routes: Route[]) {
  return createServer({
    routes,
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
  })
}

const list = endpoint({ ...base, id: 'list', path: '/list', returns: texts })
const listRoute = route(list, async () => long)

for (const [accepted, encoding, decode] of [
  ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
  ['gzip, deflate', 'gzip', gunzipSync],
  ['br;q=0.1, gzip', 'gzip', gunzipSync],
] as const) {
  test(`a read with Accept-Encoding: ${accepted} is ${encoding}, with its length and Vary`, async () => {
    const { statusCode, headers, rawPayload } = await serve(listRoute).inject({
      url: '/list',
      headers: { 'accept-encoding': accepted },
    })
    assert.equal(statusCode, 200)
    assert.equal(headers['content-encoding'], encoding)
    assert.equal(headers.vary, 'accept-encoding')
    assert.equal(Number(headers['content-length']), rawPayload.byteLength)
    assert.ok(rawPayload.byteLength < 700, `${rawPayload.byteLength} bytes`)
    assert.deepEqual(JSON.parse(decode(rawPayload).toString()), long)
  })
}

test('without an encoding of ours the body is plain, and caches learn that it varies', async () => {
  for (const accepted of [undefined, 'identity', 'zstd', 'br;q=0, gzip;q=0']) {
    const sent = await serve(listRoute).inject({
      url: '/list',
      headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
    })
    assert.equal(sent.headers['content-encoding'], undefined, accepted)
    assert.equal(sent.headers.vary, 'accept-encoding')
    assert.deepEqual(sent.json(), long)
  }
  assert.equal(encodingFor('*'), 'br')
})

test('HEAD has the headers of the compressed reply and no body', async () => {
  const { headers, rawPayload } = await serve(listRoute).inject({
    method: 'HEAD',
    url: '/list',
    headers: { 'accept-encoding': 'br' },
  })
  assert.equal(headers['content-encoding'], 'br')
  assert.equal(rawPayload.byteLength, 0)
})

test('a reply that is stored as bytes is compressed like one that is not', async () => {
  const bytes = Buffer.from(JSON.stringify(long))
  const json = { headers: { 'content-type': 'application/json; charset=utf-8' } }
  const { headers, rawPayload } = await serve(route(list, async () => answer(bytes, json))).inject({
    url: '/list',
    headers: { 'accept-encoding': 'br' },
  })
  assert.equal(headers['content-encoding'], 'br')
  assert.deepEqual(JSON.parse(brotliDecompressSync(rawPayload).toString()), long)
})

const small = endpoint({ ...base, id: 'small', path: '/small', returns: texts })
const written = endpoint({
  ...base,
  id: 'written',
  method: 'POST',
  path: '/written',
  audit: { type: 'system', action: 'write' },
  returns: texts,
})
const failing = endpoint({ ...base, id: 'failing', path: '/failing', returns: texts, fails: ['not_found'] })
const events = endpoint({ ...base, id: 'events', path: '/events', streams: ['text/event-stream'] })
const lines = endpoint({ ...base, id: 'lines', path: '/lines', streams: ['application/x-ndjson'] })
const slow = endpoint({ ...base, id: 'slow', path: '/slow', returns: texts })
const file = endpoint({ ...base, id: 'file', path: '/file', streams: ['application/octet-stream'] })
const links = endpoint({
  ...base,
  id: 'links',
  path: '/links',
  returns: z.array(z.object({ inner: z.object({ token: z.string() }) })),
})
const open = endpoint({ ...base, id: 'open', path: '/open', access: { who: 'none' }, returns: texts })

async function* pieces() {
  for (const line of long) yield `${line}\n`
}

for (const [what, url, one] of [
  ['a small body', '/small', route(small, async () => ['x'])],
  ['the reply of a write', '/written', route(written, async () => long)],
  [
    'an error',
    '/failing',
    route(failing, async () => {
      throw new Fault('not_found', 'x'.repeat(2000))
    }),
  ],
  ['an event stream', '/events', route(events, async () => streamAnswer('text/event-stream', pieces()))],
  ['NDJSON', '/lines', route(lines, async () => streamAnswer('application/x-ndjson', pieces()))],
  [
    'a document with keep-alive spaces',
    '/slow',
    route(slow, async () => {
      const work = Promise.withResolvers<string[]>()
      let pauses = 0
      const wait = async () => {
        pauses += 1
        if (pauses === 2) work.resolve(long)
      }
      return keepingAlive(work.promise, { clock: { wait }, everySeconds: 1 })
    }),
  ],
  ['a download', '/file', route(file, async () => streamAnswer('application/octet-stream', pieces()))],
  ['a reply with a secret', '/links', route(links, async () => long.map((token) => ({ inner: { token } })))],
  ['a reply to anybody', '/open', route(open, async () => long)],
] as const) {
  test(`${what} is sent as it is`, async () => {
    const { headers } = await serve(one).inject({
      method: one.endpoint.method,
      url,
      headers: { 'accept-encoding': 'br, gzip' },
      ...(one.endpoint.method === 'POST' ? { payload: '{}' } : {}),
    })
    assert.equal(headers['content-encoding'], undefined)
  })
}

test('the first event arrives before the second exists, also for a client that accepts brotli', async () => {
  const isRead = Promise.withResolvers<void>()
  const app = serve(
    route(events, async () =>
      streamAnswer(
        'text/event-stream',
        (async function* () {
          yield 'data: first\n\n'
          await isRead.promise
          yield 'data: second\n\n'
        })(),
      ),
    ),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const reply = await fetch(`${url}/events`, { headers: { 'accept-encoding': 'br' } })
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /first/)
  isRead.resolve()
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /second/)
  await app.close()
})

test('a large reply is compressed beside the event loop', async () => {
  const large = Array.from({ length: 60_000 }, (_, index) => `${index} ${Math.sin(index)}`)
  const big = endpoint({ ...base, id: 'big', path: '/big', returns: texts })
  const app = serve(route(big, async () => large))
  // Both run at the same time; a compressor on this thread would let no turn of the loop pass between.
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  const sent = app.inject({ url: '/big', headers: { 'accept-encoding': 'br' } })
  setImmediate(count)
  const { headers } = await sent
  isOver = true
  assert.equal(headers['content-encoding'], 'br')
  assert.ok(turns > 20, `${turns} turns of the loop`)
})

test('lists of the API are compressible, and every reply with a secret is not', () => {
  const isOf = new Map(endpoints.map((each) => [each.id, isCompressible(each)]))
  for (const id of ['listAgents', 'listExecutions', 'getExecutionLog', 'getAuditLog'])
    assert.notEqual(isOf.get(id), false, id)
  const withSecrets = [
    'getWebhook',
    'listPublicLinks',
    'getPublicLink',
    'listCanvasShares',
    'getTemplateEnv',
    'exportAgent',
    'downloadFile',
    'getPublicHistory',
  ]
  for (const id of withSecrets) assert.equal(isOf.get(id), false, id)
  for (const each of endpoints.filter(({ method }) => method !== 'GET'))
    assert.equal(isCompressible(each), false, each.id)
})
