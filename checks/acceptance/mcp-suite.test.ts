/** The protocol's conformance suite and its inspector, against the MCP server of a real platform. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Platform, startPlatform } from './platform.ts'

const packages = createRequire(import.meta.url)
const conformance = join(
  dirname(packages.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
const inspector = join(
  dirname(packages.resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
)

let platform: Platform
let key: string
before(async () => {
  platform = await startPlatform()
  await platform.startBeside('mcp/src/start.ts')
  key = (await platform.request('POST', '/api/mcp/keys', { name: 'suite' })).json.key
})
after(() => platform?.[Symbol.asyncDispose]())

async function run(file: string, args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [file, ...args], { cwd: platform.dataDir })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, out, err }
}

/** Adds the key, because the suite sends no credentials. */
async function withKey(): Promise<{ url: string; server: Server }> {
  const { port, hostname } = new URL(platform.url)
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request
    const forwarded = httpRequest(
      { host: hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${key}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        response.flushHeaders()
        answer.pipe(response)
      },
    )
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`, server }
}

test('the conformance suite passes, except for listed scenarios that do not apply', async () => {
  const { url, server } = await withKey()
  try {
    const baseline = join(import.meta.dirname, 'mcp-conformance.yaml')
    const { code, out, err } = await run(conformance, [
      'server',
      '--url',
      url,
      '--expected-failures',
      baseline,
      '-o',
      join(platform.dataDir, 'conformance'),
    ])
    assert.equal(code, 0, `${out.slice(-4000)}\n${err.slice(-2000)}`)
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams']) {
      assert.match(out, new RegExp(`✓ ${scenario}: `), scenario)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('the inspector lists and calls tools', async () => {
  const at = ['--cli', '--server-url', `${platform.url}/mcp`, '--transport', 'http']
  const as = ['--header', `Authorization: Bearer ${key}`]
  const list = await run(inspector, [...at, ...as, '--method', 'tools/list'])
  assert.equal(list.code, 0, list.err)
  assert.ok(JSON.parse(list.out).tools.some(({ name }: { name: string }) => name === 'chat_with_agent'))
  const call = await run(inspector, [...at, ...as, '--method', 'tools/call', '--tool-name', 'list_agents'])
  assert.equal(call.code, 0, call.err)
  assert.match(call.out, /roost-system/)
})
