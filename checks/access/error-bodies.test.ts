/** Every kind of error body on every listener carries the id of its request. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { type McpServer, serveMcp } from '../../mcp/src/serve.ts'
import { internalSecret, openWorld, type RequestOptions, type World } from './world.ts'

let world: World
let mcp: McpServer
let pagesFolder: string
/** An unreachable API, so the MCP server cannot validate a key. */
const nowhere = 'http://127.0.0.1:9'

before(async () => {
  pagesFolder = await mkdtemp(join(tmpdir(), 'roost-error-bodies-'))
  await mkdir(join(pagesFolder, 'assets'))
  await writeFile(join(pagesFolder, 'index.html'), '<!doctype html><html><head></head></html>')
  const silent = { info() {}, warn() {} }
  const at = {
    apiUrl: nowhere,
    internalUrl: nowhere,
    internalSecret,
    baseUrl: 'http://localhost',
    hostNames: [],
  }
  mcp = await serveMcp(
    { host: '127.0.0.1', port: 0, keepaliveSeconds: 15, waitSeconds: 1, version: '0.0.0', ...at },
    silent,
  )
  world = await openWorld({ pagesFolder, mcpUrl: `http://127.0.0.1:${mcp.port}` })
  await world.ok('POST', '/api/agents', { token: world.admin, body: { name: 'scout' } })
})
after(async () => {
  await world?.[Symbol.asyncDispose]()
  await mcp?.close()
  await rm(pagesFolder, { recursive: true, force: true })
})

const requestIdHeader = { 'x-request-id': 'given.by-the_caller' }

async function expectError(expected: string, method: string, path: string, options: RequestOptions = {}) {
  const reply = await world.ask(method, path, {
    ...options,
    headers: { ...requestIdHeader, ...options.headers },
  })
  assert.equal(`${reply.status} ${reply.error}`, expected, `${method} ${path}: ${reply.text}`)
  assert.equal(reply.headers.get('x-request-id'), requestIdHeader['x-request-id'], path)
  assert.equal(JSON.parse(reply.text).request_id, requestIdHeader['x-request-id'], path)
  // The MCP server has codes of its own.
  if (path === '/mcp' && reply.error !== 'mcp_unavailable') return JSON.parse(reply.text)
  const help = await world.ask('GET', JSON.parse(reply.text).docs_url)
  assert.equal(help.status, 200, reply.text)
  assert.ok(help.text.includes(`<h1><code>${reply.error}</code></h1>`), help.text)
  return JSON.parse(reply.text)
}

test('of the API: credential, path, method, body, media type, size, business rule', async () => {
  const token = world.admin
  await expectError('401 not_authenticated', 'GET', '/api/agents')
  await expectError('401 invalid_token', 'GET', '/api/agents', { token: 'nonsense' })
  await expectError('401 invalid_credentials', 'POST', '/api/token', {
    form: { username: 'x', password: 'y' },
  })
  await expectError('404 not_found', 'GET', '/api/nowhere', { token })
  await expectError('404 not_found', 'GET', '/api/agents/%zz', { token })
  await expectError('404 not_found', 'GET', '/api/internal/health', { token })
  await expectError('404 agent_not_found', 'GET', '/api/agents/nobody', { token })
  await expectError('405 method_not_allowed', 'PATCH', '/api/agents', { token })
  await expectError('422 invalid_json', 'POST', '/api/agents', { token, body: '{"name":' })
  await expectError('422 validation_error', 'POST', '/api/agents', { token, body: {} })
  await expectError('422 validation_error', 'GET', '/api/audit-log?limit=many', { token })
  const typeless = { token, body: '{}', headers: { 'content-type': 'garbage' } }
  await expectError('415 unsupported_media_type', 'POST', '/api/agents', typeless)
  const long = { token, body: { name: 'x'.repeat(1024 * 1024) } }
  await expectError('413 body_too_large', 'POST', '/api/agents', long)
  await expectError('409 agent_exists', 'POST', '/api/agents', { token, body: { name: 'scout' } })
})

test('of the container engine', async () => {
  await world.ok('POST', '/api/agents/scout/stop', { token: world.admin })
  world.engine.refuse(true)
  const options = { token: world.admin, body: {} }
  try {
    await expectError('500 container_engine_error', 'POST', '/api/agents/scout/start', options)
  } finally {
    world.engine.refuse(false)
  }
})

test("of the web UI's files", async () => {
  await expectError('404 not_found', 'GET', '/assets/missing.js')
  await expectError('404 not_found', 'GET', '/assets/..%2f..%2fpackage.json')
  await expectError('404 not_found', 'GET', '/nowhere')
})

test('of the internal listener', async () => {
  await expectError('404 not_found', 'GET', '/nowhere', { internal: true })
  await expectError('404 not_found', 'GET', '/link', { internal: true })
  const path = '/api/internal/execute-task'
  await expectError('401 not_authenticated', 'POST', path, { internal: true, body: '{' })
  const options = { internal: true, token: internalSecret }
  await expectError('422 invalid_json', 'POST', path, { ...options, body: '{' })
  const text = { ...options, body: '{}', headers: { 'content-type': 'text/plain' } }
  await expectError('415 unsupported_media_type', 'POST', path, text)
  const page = { ...options, headers: { origin: 'http://localhost' } }
  await expectError('403 foreign_request', 'GET', '/api/internal/health', page)
})

test("of the broker and of git transfers: in their protocols' formats, with the id in the header", async () => {
  for (const [provider, field] of [
    ['anthropic', true],
    ['google', false],
    ['openai', false],
    ['nobody', true],
  ] as const) {
    const options = { internal: true, body: {}, headers: requestIdHeader }
    const reply = await world.ask('POST', `/broker/${provider}/v1/messages`, options)
    assert.ok(reply.status >= 400, provider)
    assert.equal(reply.headers.get('x-request-id'), requestIdHeader['x-request-id'], provider)
    const expected = field ? requestIdHeader['x-request-id'] : undefined
    assert.equal(JSON.parse(reply.text).request_id, expected, provider)
  }
  const git = await world.ask('GET', '/git/acme/app.git/info/refs', {
    internal: true,
    headers: requestIdHeader,
  })
  assert.deepEqual([git.status, git.headers.get('x-request-id')], [401, requestIdHeader['x-request-id']])
})

test('of refused upgrades', async () => {
  for (const [base, path, status] of [
    [world.url, '/nowhere', 404],
    [world.internalUrl, '/link', 401],
    [world.internalUrl, '/nowhere', 404],
  ] as const) {
    const socket = new WebSocket(base.replace('http', 'ws') + path, { headers: requestIdHeader })
    socket.on('error', () => {})
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
    const body = (await json(reply)) as { request_id: string }
    assert.deepEqual(
      [reply.statusCode, reply.headers['x-request-id'], body.request_id],
      [status, requestIdHeader['x-request-id'], requestIdHeader['x-request-id']],
    )
  }
})

test('of bytes that are not an HTTP request', async () => {
  for (const [sent, status, error] of [
    ['nonsense\r\n\r\n', 400, 'malformed_request'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ] as const) {
    for (const base of [world.url, world.internalUrl]) {
      const socket = connect(Number(new URL(base).port), '127.0.0.1')
      socket.write(sent)
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
      const problem = JSON.parse(body)
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.equal(problem.error, error)
      assert.equal(/x-request-id: (\S+)/.exec(head)?.[1], problem.request_id)
    }
  }
})

test('of the MCP server, forwarded and on its own listener, and of the forwarding', async () => {
  await expectError('401 invalid_token', 'POST', '/mcp', { body: {} })
  await expectError('503 platform_unreachable', 'POST', '/mcp', { token: 'svc_mcp_x', body: {} })
  const own = await fetch(`http://127.0.0.1:${mcp.port}/nowhere`, { headers: requestIdHeader })
  const body = (await own.json()) as { request_id: string }
  assert.deepEqual(
    [own.status, own.headers.get('x-request-id'), body.request_id],
    [404, requestIdHeader['x-request-id'], requestIdHeader['x-request-id']],
  )
  await mcp.close()
  await expectError('503 mcp_unavailable', 'POST', '/mcp', { body: {} })
})
