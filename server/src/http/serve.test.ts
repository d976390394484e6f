import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { endpoint } from '@roost/contracts/kit/endpoint'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { answer, type Route, route, streamAnswer } from './route.ts'
import type { HandledRequest, ServerOptions } from './serve.ts'
import { createServer } from './serve.ts'

const base = { tag: 'Test', summary: 'Test', access: { who: 'none' } } as const
const echo = endpoint({
  ...base,
  id: 'echo',
  method: 'POST',
  path: '/echo/{id}',
  params: z.object({ id: z.string() }),
  query: z.object({ times: z.string().regex(/^\d+$/, 'must be an integer').optional() }),
  body: z.object({ text: z.string(), nested: z.object({ n: z.number() }).optional() }),
  bodyLimit: 1000,
  returns: z.object({ text: z.string() }),
  replyHeaders: ['X-Total-Count'],
})
const form = endpoint({
  ...base,
  id: 'form',
  method: 'POST',
  path: '/form',
  bodyKind: 'form',
  body: z.object({ username: z.string() }),
})
const broken = endpoint({ ...base, id: 'broken', method: 'GET', path: '/broken' })
const limited = endpoint({
  ...base,
  id: 'limited',
  method: 'GET',
  path: '/limited',
  fails: ['rate_limited'],
})
const stream = endpoint({ ...base, id: 'stream', method: 'GET', path: '/stream', streams: ['text/plain'] })

function app(extra: Route[] = [], instead: Partial<ServerOptions> = {}) {
  const answered: HandledRequest[] = []
  const server = createServer({
    routes: [
      route(echo, async ({ params, body }) =>
        answer({ text: `${params.id}:${body.text}` }, { headers: { 'x-total-count': '1' } }),
      ),
      route(form, async () => undefined),
      route(broken, async () => {
        throw new Error('the secret inside')
      }),
      route(limited, async () => {
        throw new Fault('rate_limited', 'Slow down.', { retry_after_seconds: 7 })
      }),
      route(stream, async () => streamAnswer('text/plain', pieces())),
      ...extra,
    ],
    guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
    checkReplies: true,
    log: silentLog,
    trustedProxies: [],
    onHandled: (request) => answered.push(request),
    ...instead,
  })
  return { server, answered }
}

async function* pieces() {
  yield 'one '
  yield 'two'
}

const post = (url: string, payload: string | Buffer, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url,
  payload,
  headers: { 'content-type': 'application/json', ...headers },
})

test('200 with the parsed path, query and body', async () => {
  const reply = await app().server.inject(post('/echo/a%20b?times=2', '{"text":"hi"}'))
  assert.equal(reply.statusCode, 200)
  assert.deepEqual(reply.json(), { text: 'a b:hi' })
  assert.equal(reply.headers['x-total-count'], '1')
})

test('404 for DELETE on a collection path left by `..` in an id', async () => {
  const deleted: string[] = []
  const remove = endpoint({
    ...base,
    id: 'remove',
    method: 'DELETE',
    path: '/things/{id}',
    params: z.object({ id: z.string() }),
  })
  const { server } = app([route(remove, async ({ params }) => void deleted.push(params.id))])
  // The result of `new URL` for `/things/one/parts/..`.
  assert.equal((await server.inject({ method: 'DELETE', url: '/things/one/' })).json().error, 'not_found')
  assert.equal((await server.inject({ method: 'DELETE', url: '/things/one/?all=1' })).statusCode, 404)
  assert.deepEqual(deleted, [])
  assert.equal((await server.inject({ method: 'DELETE', url: '/things/one' })).statusCode, 200)
  assert.deepEqual(deleted, ['one'])
})

test('422 names field and rule, and does not repeat the input', async () => {
  const reply = await app().server.inject(post('/echo/a', '{"text":7,"nested":{"n":"hunter2"}}'))
  assert.equal(reply.statusCode, 422)
  const body = reply.json()
  assert.equal(body.error, 'validation_error')
  assert.deepEqual(
    body.detail.map((issue: { loc: string[] }) => issue.loc),
    [
      ['body', 'text'],
      ['body', 'nested', 'n'],
    ],
  )
  assert.ok(!reply.body.includes('hunter2'))
})

test('422 for a missing field, with the rule "is required"', async () => {
  const body = (await app().server.inject(post('/echo/a', '{}'))).json()
  assert.deepEqual(body.detail, [{ loc: ['body', 'text'], msg: 'is required', type: 'missing' }])
})

for (const [what, payload] of [
  ['cut JSON', '{"text":'],
  ['a form', 'text=hi'],
  ['nothing', ''],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
] as const) {
  test(`422 invalid_json for ${what}`, async () => {
    const reply = await app().server.inject(post('/echo/a', payload))
    assert.equal(reply.statusCode, 422)
    assert.equal(reply.json().error, 'invalid_json')
  })
}

test('422 for U+0000, naming the field', async () => {
  const reply = await app().server.inject(post('/echo/a', '{"text":"a\\u0000b"}'))
  assert.equal(reply.statusCode, 422)
  assert.deepEqual(reply.json().detail[0].loc, ['body', 'text'])
})

test('422 for a lone surrogate, naming the field; a complete pair is accepted', async () => {
  for (const sent of ['{"text":"a\\ud800b"}', '{"text":"hi","more":{"\\udc00":1}}']) {
    const reply = await app().server.inject(post('/echo/a', sent))
    assert.equal(reply.statusCode, 422)
    assert.equal(reply.json().error, 'validation_error')
    assert.match(reply.json().detail[0].msg, /surrogate/)
  }
  const whole = await app().server.inject(post('/echo/a', '{"text":"\\ud83d\\ude00"}'))
  assert.deepEqual(whole.json(), { text: 'a:😀' })
})

test('422 for a body nested too deeply, not for one at the limit', async () => {
  const nested = (levels: number) => `{"text":"hi","more":${'['.repeat(levels)}${']'.repeat(levels)}}`
  for (const levels of [100, 400]) {
    const refused = await app().server.inject(post('/echo/a', nested(levels)))
    assert.equal(refused.statusCode, 422)
    assert.deepEqual(refused.json().detail[0].loc, ['body'])
  }
  assert.equal((await app().server.inject(post('/echo/a', nested(99)))).statusCode, 200)
})

test('a JSON body is accepted with any content type', async () => {
  const reply = await app().server.inject(post('/echo/a', '{"text":"hi"}', { 'content-type': 'text/plain' }))
  assert.equal(reply.statusCode, 200)
})

test('415 for an invalid content type', async () => {
  for (const type of ['', 'garbage', '/', 'a/b/c']) {
    const reply = await app().server.inject(post('/echo/a', '{"text":"hi"}', { 'content-type': type }))
    assert.deepEqual([reply.statusCode, reply.json().error], [415, 'unsupported_media_type'], type)
  }
})

test('422 when a form route gets JSON', async () => {
  const reply = await app().server.inject(post('/form', '{"username":"admin"}'))
  assert.equal(reply.statusCode, 422)
  assert.equal(reply.json().detail[0].type, 'form_type')
})

test('413 for a body above the limit of its route', async () => {
  const reply = await app().server.inject(post('/echo/a', JSON.stringify({ text: 'x'.repeat(2000) })))
  assert.equal(reply.statusCode, 413)
  assert.equal(reply.json().error, 'body_too_large')
})

test('500 with the request id and without the text of the error', async () => {
  const reply = await app().server.inject({
    method: 'GET',
    url: '/broken',
    headers: { 'x-request-id': 'my-id' },
  })
  assert.equal(reply.statusCode, 500)
  assert.equal(reply.json().request_id, 'my-id')
  assert.equal(reply.headers['x-request-id'], 'my-id')
  assert.ok(!reply.body.includes('secret inside'))
})

test('an invalid request id is replaced', async () => {
  const reply = await app().server.inject({
    method: 'GET',
    url: '/limited',
    headers: { 'x-request-id': 'no spaces' },
  })
  assert.match(String(reply.headers['x-request-id']), /^[0-9a-f-]{36}$/)
})

test('429 with the retry time in header and body', async () => {
  const reply = await app().server.inject({ method: 'GET', url: '/limited' })
  assert.equal(reply.statusCode, 429)
  assert.equal(reply.headers['retry-after'], '7')
  const { request_id, ...body } = reply.json()
  assert.deepEqual(body, {
    detail: 'Slow down.',
    error: 'rate_limited',
    retry_after_seconds: 7,
    docs_url: '/help/errors/rate_limited',
  })
  assert.equal(request_id, reply.headers['x-request-id'])
})

test('404 for an unknown path, 405 for a known one with another method', async () => {
  const { server } = app()
  assert.equal((await server.inject({ method: 'GET', url: '/nowhere' })).json().error, 'not_found')
  const reply = await server.inject({ method: 'DELETE', url: '/echo/a' })
  assert.equal(reply.statusCode, 405)
  assert.equal(reply.headers.allow, 'POST')
})

test('404 for a path that cannot be decoded, contains U+0000 or is longer than any name', async () => {
  const { server } = app()
  assert.equal((await server.inject(post(`/echo/${'a'.repeat(5000)}`, '{"text":"x"}'))).statusCode, 404)
  assert.equal((await server.inject(post('/echo/%zz', '{}'))).statusCode, 404)
  assert.equal((await server.inject(post('/echo/%00', '{"text":"x"}'))).statusCode, 404)
})

test('every response has its id, even for a path that cannot be decoded', async () => {
  const { server } = app()
  for (const url of ['/echo/%zz', '/echo/%ff', '/nowhere']) {
    const reply = await server.inject({ ...post(url, '{}'), headers: { 'x-request-id': 'my-id' } })
    assert.equal(reply.headers['x-request-id'], 'my-id', url)
  }
})

test('responses and errors are not cacheable unless a route sets its own header', async () => {
  const picture = endpoint({ ...base, id: 'picture', method: 'GET', path: '/picture' })
  const cacheable = answer(undefined, { headers: { 'cache-control': 'private, max-age=60' } })
  const { server } = app([route(picture, async () => cacheable)])
  const cachingOf = async (url: string) =>
    (await server.inject(post(url, '{"text":"hi"}'))).headers['cache-control']
  for (const url of ['/echo/a', '/echo/a?times=x', '/nowhere', '/echo/%zz']) {
    assert.equal(await cachingOf(url), 'no-store', url)
  }
  const reply = await server.inject({ method: 'GET', url: '/picture' })
  assert.equal(reply.headers['cache-control'], 'private, max-age=60')
})

test('a stream is sent as it is produced', async () => {
  const reply = await app().server.inject({ method: 'GET', url: '/stream' })
  assert.equal(reply.body, 'one two')
  assert.equal(reply.headers['content-type'], 'text/plain')
})

test('each handled request is reported once, with its status and error code', async () => {
  const { server, answered } = app()
  await server.inject({ method: 'GET', url: '/limited' })
  assert.equal(answered.length, 1)
  assert.equal(answered[0]?.status, 429)
  assert.equal(answered[0]?.errorCode, 'rate_limited')
})

test('a client that disconnects during its body is not logged as an error', async () => {
  const errors: string[] = []
  const log = { ...silentLog, error: (_fields: object, text: string) => errors.push(text) }
  const answered = Promise.withResolvers<void>()
  const { server } = app([], { log, onHandled: () => answered.resolve() })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const address = server.server.address()
  assert.ok(address !== null && typeof address === 'object')
  const socket = connect(address.port, '127.0.0.1')
  socket.write('POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"te')
  server.server.once('request', () => setImmediate(() => socket.destroy()))
  await answered.promise
  await server.close()
  assert.deepEqual(errors, [])
})

test('a client that sends an oversized body before it reads gets a 413 and can use the connection again', async () => {
  const { server } = app()
  await server.listen({ port: 0, host: '127.0.0.1' })
  const address = server.server.address()
  assert.ok(address !== null && typeof address === 'object')
  const socket = connect(address.port, '127.0.0.1')
  try {
    const response = new Promise<void>((done, refuse) => {
      let text = ''
      socket.on('data', (piece) => {
        text += String(piece)
        if (text.match(/HTTP\/1\.1 413 /g)?.length === 2) done()
      })
      socket.once('error', refuse)
      socket.once('close', () => refuse(new Error('The connection was cut.')))
    })
    const body = Buffer.alloc(30 * 1024 * 1024, 'x')
    for (let time = 0; time < 2; time += 1) {
      socket.write(`POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
      socket.write(body)
    }
    await response
  } finally {
    socket.destroy()
    await server.close()
  }
})
