import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type ModelServer, startModelServer } from './index.ts'
import { anthropicClient, ask, googleClient, openaiClient } from './testing/wire-clients.ts'

let server: ModelServer
before(async () => {
  server = await startModelServer()
})
after(() => server.close())

function say(text: string, signal?: AbortSignal) {
  return ask(anthropicClient, server.url, { said: [text], stream: true, signal })
}

test('60 sleeping requests do not delay others', async () => {
  const start = performance.now()
  const sleeping = Array.from({ length: 60 }, (_, index) => say(`[[sleep:2]] [[reply:${index}]]`))
  assert.equal((await say('awake')).text, 'ok: awake')
  assert.ok(performance.now() - start < 1900, 'the request without a sleep waited for the others')
  const texts = (await Promise.all(sleeping)).map((heard) => heard.text)
  assert.deepEqual(
    texts,
    texts.map((_, index) => String(index)),
  )
  assert.ok(performance.now() - start < 6000, `took ${performance.now() - start} ms`)
})

test('a sleep ends immediately when the client disconnects', async () => {
  const client = new AbortController()
  const answer = say('[[sleep:600]] gone', client.signal)
  const logged = await server.waitForRequest((request) => request.user_text === '[[sleep:600]] gone')
  assert.deepEqual([logged.ended, logged.status], ['open', 200])
  client.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  await server.waitForRequest((request) => request === logged && request.ended === 'client_gone')
})

test('a held answer is sent on release and ends immediately when the client disconnects', async () => {
  const answer = say('[[hold:one]] [[reply:let go]]')
  const logged = await server.waitForRequest((request) => request.user_text?.includes('hold:one') ?? false)
  assert.equal(logged.ended, 'open')
  server.release('one')
  assert.equal((await answer).text, 'let go')
  assert.equal((await say('[[hold:one]] [[reply:at once]]')).text, 'at once')
  const client = new AbortController()
  const left = say('[[hold:two]]', client.signal)
  const open = await server.waitForRequest((request) => request.user_text?.includes('hold:two') ?? false)
  client.abort()
  await assert.rejects(left, { name: 'AbortError' })
  await server.waitForRequest((request) => request === open && request.ended === 'client_gone')
})

test('a dripping answer ends when the client disconnects', async () => {
  const client = new AbortController()
  const answer = say('[[drip:60000]] [[reply:never to its end]]', client.signal)
  const logged = await server.waitForRequest((request) => request.user_text?.includes('60000') ?? false)
  client.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  await server.waitForRequest((request) => request === logged && request.ended === 'client_gone')
})

test('the log tells whether an answer was complete or cut', async () => {
  await say('ended well')
  await say('[[cut]] ended badly')
  await server.waitForRequest((one) => one.user_text === 'ended well' && one.ended === 'answered')
  await server.waitForRequest((one) => one.user_text === '[[cut]] ended badly' && one.ended === 'cut')
})

test('fail-first counts twenty concurrent requests exactly', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => say('[[fail-first:race:7]]')))
  assert.equal(answers.filter((one) => one.status !== 200).length, 7)
})

test('side requests ignore directives and do not count for fail-first', async () => {
  const headers = { 'x-api-key': 'k', 'user-agent': 'claude-cli/2.1.329' }
  const format = {
    type: 'json_schema',
    schema: { type: 'object', properties: { title: { type: 'string' } } },
  }
  const messages = [{ role: 'user', content: '<session>[[fail-first:side:1]] [[sleep:60]]</session>' }]
  const body = { model: 'm', max_tokens: 100, messages, output_config: { format } }
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { content: { text: string }[] }
  assert.deepEqual([response.status, answer.content[0]?.text], [200, '{"title":"ok"}'])
  assert.equal((await say('[[fail-first:side:1]]')).status, 500)
  const logged = await server.waitForRequest((one) => one.kind === 'side')
  assert.deepEqual(logged.directives, [])
})

test('the same request gets the same bytes from any server', async () => {
  await using other = await startModelServer()
  const request = {
    method: 'POST',
    headers: { authorization: 'Bearer k' },
    body: JSON.stringify({ model: 'gpt-x', stream: true, input: 'the same [[pad:500]]' }),
  }
  const one = await (await fetch(`${server.url}/v1/responses`, request)).text()
  const two = await (await fetch(`${other.url}/v1/responses`, request)).text()
  assert.equal(one, two)
})

test('token counts and model lists have the form of each provider', async () => {
  const get = async (path: string, headers: Record<string, string>, body?: unknown) => {
    const method = body === undefined ? 'GET' : 'POST'
    const response = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const anthropicKey = { 'x-api-key': 'k' }
  const ask = { model: 'm', messages: [{ role: 'user', content: '[[fail]]' }] }
  assert.equal(
    typeof (await get('/v1/messages/count_tokens?beta=true', anthropicKey, ask)).body.input_tokens,
    'number',
  )
  const counted = await get('/v1beta/models/g:countTokens?key=k', {}, { contents: [] })
  assert.equal(typeof counted.body.totalTokens, 'number')
  assert.equal((await get('/v1/models', anthropicKey)).body.has_more, false)
  assert.equal((await get('/v1/models', { authorization: 'Bearer k' })).body.object, 'list')
  assert.ok(Array.isArray((await get('/v1beta/models', { 'x-goog-api-key': 'k' })).body.models))
  assert.equal((await get('/v1/models/gpt-x', { authorization: 'Bearer k' })).body.id, 'gpt-x')
  assert.equal((await get('/v1/models', {})).status, 401)
})

test('probes are answered without a key', async () => {
  for (const [method, path] of [
    ['HEAD', '/api/hello'],
    ['GET', '/api/hello'],
    ['POST', '/api/event_logging/batch'],
    ['GET', '/'],
  ]) {
    assert.equal((await fetch(server.url + path, { method })).status, 200, `${method} ${path}`)
  }
})

test('an unknown path returns 404 in the form of the most similar provider', async () => {
  for (const path of ['/v1/chat/completions', '/v1beta/files', '/v1/messages/batches', '/nothing', '/%']) {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'x-api-key': 'k' },
      body: '{}',
    })
    const body = (await response.json()) as { error: { message: string } }
    assert.equal(response.status, 404, path)
    assert.match(body.error.message, /^no such endpoint: POST /)
  }
})

test('a base address with a trailing slash works too', async () => {
  const answer = await ask(anthropicClient, `${server.url}/`, { said: ['slash'], stream: false })
  assert.equal(answer.text, 'ok: slash')
  assert.equal(
    (await ask(googleClient, `${server.url}//`, { said: ['slash'], stream: true })).text,
    'ok: slash',
  )
})

test('a Gemini stream without alt=sse is one JSON array', async () => {
  const response = await fetch(`${server.url}/v1beta/models/g:streamGenerateContent?key=k`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ parts: [{ text: '[[reply:hi]]' }] }] }),
  })
  const chunks = (await response.json()) as { candidates: { content: { parts: { text: string }[] } }[] }[]
  assert.equal(chunks.map((chunk) => chunk.candidates[0]?.content.parts[0]?.text).join(''), 'hi')
})

test('compressed bodies are accepted', async () => {
  const body = Buffer.from(JSON.stringify({ model: 'gpt-x', input: '[[reply:unpacked]]' }))
  const packings: [encoding: string, packed: Uint8Array<ArrayBuffer>, status: number][] = [
    ['gzip', new Uint8Array(gzipSync(body)), 200],
    ['zstd', new Uint8Array(zstdCompressSync(body)), 200],
    ['gzip', new Uint8Array(body), 400],
    ['constructor', new Uint8Array(body), 400],
  ]
  for (const [encoding, packed, status] of packings) {
    const headers = { authorization: 'Bearer k', 'content-encoding': encoding }
    const response = await fetch(`${server.url}/v1/responses`, { method: 'POST', headers, body: packed })
    assert.equal(response.status, status, encoding)
  }
})

test('a body above 64 MB returns 413', async () => {
  const body = new Uint8Array(65 * 1024 * 1024)
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k' },
    body,
  })
  assert.equal(response.status, 413)
})

test('invalid requests and aborted uploads do not affect others', async () => {
  for (const bytes of [
    '\x00\x01\x02 nonsense\r\n\r\n',
    'GET http://[::1 HTTP/1.1\r\nhost: x\r\n\r\n',
    'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\ncontent-length: 1000\r\n\r\nhalf',
  ]) {
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.end(bytes))
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      socket.resume()
    })
  }
  assert.equal((await say('still here')).text, 'ok: still here')
})

test('keys are logged by kind, and a key in the query is removed from the logged path', async () => {
  const response = await fetch(`${server.url}/v1beta/models/g:generateContent?key=in-query&alt=json`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'in-header', authorization: 'Bearer in-bearer' },
    body: JSON.stringify({ contents: [] }),
  })
  assert.equal(response.status, 200)
  const logged = await server.waitForRequest((one) => one.key === 'in-header')
  assert.equal(logged.path, '/v1beta/models/g:generateContent?alt=json')
  assert.equal(logged.key_kind, 'x-goog-api-key')
  assert.deepEqual(logged.keys, { 'x-goog-api-key': 'in-header', bearer: 'in-bearer', query: 'in-query' })
})

test('each request is a JSON line in the log file before its answer begins', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-model-'))
  context.after(() => rm(folder, { recursive: true }))
  const logFile = join(folder, 'requests.log')
  await using logging = await startModelServer({ logFile })
  await ask(anthropicClient, logging.url, { said: ['one'], stream: true }, 'key-a')
  await ask(openaiClient, logging.url, { said: ['[[fail:503]]'], stream: true }, 'key-b')
  const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n')
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    logged.map((one) => [one.provider, one.key, one.status, one.kind, one.directives]),
    [
      ['anthropic', 'key-a', 200, 'main', []],
      ['openai', 'key-b', 503, 'main', ['fail']],
    ],
  )
  assert.ok(logged.every((one) => !Number.isNaN(Date.parse(String(one.time)))))
})

test('a used port and an unwritable log file are refused', async () => {
  await assert.rejects(startModelServer({ port: server.port }), { code: 'EADDRINUSE' })
  await assert.rejects(startModelServer({ logFile: '/no/such/folder/log' }), { code: 'ENOENT' })
})

test('waiting for a request ends at the timeout or when the server closes', async () => {
  await using other = await startModelServer()
  await assert.rejects(
    other.waitForRequest(() => true, { timeoutMs: 1 }),
    /no such request within 1 ms/,
  )
  const waiting = other.waitForRequest(() => true)
  await Promise.all([assert.rejects(waiting, /was closed/), other.close()])
})

test('closing aborts sleeping requests and can be repeated', async () => {
  const other = await startModelServer()
  const answer = ask(anthropicClient, other.url, { said: ['[[sleep:600]]'], stream: true })
  const [seen] = await Promise.all([
    other.waitForRequest(() => true),
    assert.rejects(answer, TypeError),
    other.waitForRequest(() => true).then(() => other.close()),
  ])
  assert.equal(seen.ended, 'client_gone')
  await other.close()
})
