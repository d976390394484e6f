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

test('60 sleeping requests are answered at once, and hold up no other', async () => {
  const start = performance.now()
  const sleeping = Array.from({ length: 60 }, (_, index) => say(`[[sleep:2]] [[reply:${index}]]`))
  assert.equal((await say('awake')).text, 'ok: awake')
  assert.ok(performance.now() - start < 1900, 'the one that does not sleep waited for the others')
  const texts = (await Promise.all(sleeping)).map((heard) => heard.text)
  assert.deepEqual(
    texts,
    texts.map((_, index) => String(index)),
  )
  assert.ok(performance.now() - start < 6000, `took ${performance.now() - start} ms`)
})

test('a sleep ends at once when the client goes away', async () => {
  const client = new AbortController()
  const asked = say('[[sleep:600]] gone', client.signal)
  const seen = await server.waitForRequest((request) => request.user_text === '[[sleep:600]] gone')
  assert.deepEqual([seen.ended, seen.status], ['open', 200])
  client.abort()
  await assert.rejects(asked, { name: 'AbortError' })
  await server.waitForRequest((request) => request === seen && request.ended === 'client_gone')
})

test('a held answer is there when it is let go, and ends at once when the client goes away', async () => {
  const asked = say('[[hold:one]] [[reply:let go]]')
  const seen = await server.waitForRequest((request) => request.user_text?.includes('hold:one') ?? false)
  assert.equal(seen.ended, 'open')
  server.release('one')
  assert.equal((await asked).text, 'let go')
  assert.equal((await say('[[hold:one]] [[reply:at once]]')).text, 'at once')
  const client = new AbortController()
  const left = say('[[hold:two]]', client.signal)
  const open = await server.waitForRequest((request) => request.user_text?.includes('hold:two') ?? false)
  client.abort()
  await assert.rejects(left, { name: 'AbortError' })
  await server.waitForRequest((request) => request === open && request.ended === 'client_gone')
})

test('a dripping answer ends when the client goes away', async () => {
  const client = new AbortController()
  const asked = say('[[drip:60000]] [[reply:never to its end]]', client.signal)
  const seen = await server.waitForRequest((request) => request.user_text?.includes('60000') ?? false)
  client.abort()
  await assert.rejects(asked, { name: 'AbortError' })
  await server.waitForRequest((request) => request === seen && request.ended === 'client_gone')
})

test('how an answer ended is told: answered or cut', async () => {
  await say('ended well')
  await say('[[cut]] ended badly')
  await server.waitForRequest((one) => one.user_text === 'ended well' && one.ended === 'answered')
  await server.waitForRequest((one) => one.user_text === '[[cut]] ended badly' && one.ended === 'cut')
})

test('fail-first counts twenty requests at once exactly', async () => {
  const heard = await Promise.all(Array.from({ length: 20 }, () => say('[[fail-first:race:7]]')))
  assert.equal(heard.filter((one) => one.status !== 200).length, 7)
})

test('side requests neither act on directives nor count for fail-first', async () => {
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
  const seen = await server.waitForRequest((one) => one.kind === 'side')
  assert.deepEqual(seen.directives, [])
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

test('tokens are counted, models listed, in the form of each provider', async () => {
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

test('probes are answered calmly, without a key', async () => {
  for (const [method, path] of [
    ['HEAD', '/api/hello'],
    ['GET', '/api/hello'],
    ['POST', '/api/event_logging/batch'],
    ['GET', '/'],
  ]) {
    assert.equal((await fetch(server.url + path, { method })).status, 200, `${method} ${path}`)
  }
})

test('404 for a path that is nobody’s, in the form that is nearest', async () => {
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

test('a base address with a closing slash leads to the same place', async () => {
  const heard = await ask(anthropicClient, `${server.url}/`, { said: ['slash'], stream: false })
  assert.equal(heard.text, 'ok: slash')
  assert.equal(
    (await ask(googleClient, `${server.url}//`, { said: ['slash'], stream: true })).text,
    'ok: slash',
  )
})

test('a stream of Gemini without alt=sse is one JSON array', async () => {
  const response = await fetch(`${server.url}/v1beta/models/g:streamGenerateContent?key=k`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ parts: [{ text: '[[reply:hi]]' }] }] }),
  })
  const chunks = (await response.json()) as { candidates: { content: { parts: { text: string }[] } }[] }[]
  assert.equal(chunks.map((chunk) => chunk.candidates[0]?.content.parts[0]?.text).join(''), 'hi')
})

test('bodies may be packed', async () => {
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

test('413 for more than 64 MB', async () => {
  const body = new Uint8Array(65 * 1024 * 1024)
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k' },
    body,
  })
  assert.equal(response.status, 413)
})

test('garbage on the wire and broken uploads hurt nobody', async () => {
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

test('keys are told apart, a key in the path is not logged as part of it', async () => {
  const response = await fetch(`${server.url}/v1beta/models/g:generateContent?key=in-query&alt=json`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'in-header', authorization: 'Bearer in-bearer' },
    body: JSON.stringify({ contents: [] }),
  })
  assert.equal(response.status, 200)
  const seen = await server.waitForRequest((one) => one.key === 'in-header')
  assert.equal(seen.path, '/v1beta/models/g:generateContent?alt=json')
  assert.equal(seen.key_kind, 'x-goog-api-key')
  assert.deepEqual(seen.keys, { 'x-goog-api-key': 'in-header', bearer: 'in-bearer', query: 'in-query' })
})

test('each request is a line of JSON in the file by the time its answer begins', async (context) => {
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

test('a port that is taken and a log that cannot be opened are refused', async () => {
  await assert.rejects(startModelServer({ port: server.port }), { code: 'EADDRINUSE' })
  await assert.rejects(startModelServer({ logFile: '/no/such/folder/log' }), { code: 'ENOENT' })
})

test('waiting for a request ends with the time or with the server', async () => {
  await using other = await startModelServer()
  await assert.rejects(
    other.waitForRequest(() => true, { timeoutMs: 1 }),
    /no such request within 1 ms/,
  )
  const waiting = other.waitForRequest(() => true)
  await Promise.all([assert.rejects(waiting, /was closed/), other.close()])
})

test('closing breaks off what still sleeps, and may be done twice', async () => {
  const other = await startModelServer()
  const asked = ask(anthropicClient, other.url, { said: ['[[sleep:600]]'], stream: true })
  const [seen] = await Promise.all([
    other.waitForRequest(() => true),
    assert.rejects(asked, TypeError),
    other.waitForRequest(() => true).then(() => other.close()),
  ])
  assert.equal(seen.ended, 'client_gone')
  await other.close()
})
