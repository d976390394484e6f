/** HTTPS by Roost itself, and behind the nginx and Caddy configurations of docs/operate/reverse-proxy.md. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { eventually, freePorts, type Loose, type Platform, startPlatform } from './platform.ts'
import { adapted, configurationsOf, hasProgram, startCaddy, startNginx } from './reverse-proxies.ts'
import { createAgent } from './steps.ts'

const folder = mkdtempSync(join(tmpdir(), 'roost-proxies-'))
const [certFile, keyFile] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')]
/** Linux routes all of 127.0.0.0/8 to this machine, and the proxies connect from 127.0.0.1. */
const clientIp = '127.0.0.2'
const name = 'qa-proxies'

let platform: Platform
let ca = ''
const proxies = new AsyncDisposableStack()
before(async () => {
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-noenc', '-subj', '/CN=localhost', '-days', '2'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
    ],
    { stdio: 'pipe' },
  )
  ca = readFileSync(certFile, 'utf8')
  platform = await startPlatform({
    env: {
      ROOST_TLS_CERT: certFile,
      ROOST_TLS_KEY: keyFile,
      ROOST_BASE_URL: 'https://roost.example.com',
      ROOST_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  await createAgent(platform, name)
})
after(async () => {
  await proxies.disposeAsync()
  await platform?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function answers(port: number): Promise<number> {
  await eventually(
    () =>
      send(port, 'GET', '/health/live').then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 200,
  )
  return port
}

async function nginx(): Promise<number> {
  const [port = 0, plainPort = 0] = await freePorts(2)
  const [site = ''] = configurationsOf('nginx')
  proxies.use(
    startNginx(
      folder,
      adapted(site, {
        'listen 80;': `listen 127.0.0.1:${plainPort};`,
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        'http://127.0.0.1:8000': platform.url,
        '/etc/letsencrypt/live/roost.example.com': folder,
      }),
    ),
  )
  return answers(port)
}

async function caddy(): Promise<number> {
  const [port = 0] = await freePorts(1)
  const [site = ''] = configurationsOf('caddyfile')
  proxies.use(
    startCaddy(
      folder,
      adapted(site, {
        'roost.example.com {': `https://localhost:${port}, https://127.0.0.1:${port} {\n\ttls ${certFile} ${keyFile}`,
        '127.0.0.1:8000': new URL(platform.url).host,
      }),
    ),
  )
  return answers(port)
}

function open(port: number, method: string, path: string, body?: object, token = platform.token) {
  const request = httpsRequest({
    ...{ host: '127.0.0.1', port, method, path, localAddress: clientIp },
    agent: new Agent({ ca, keepAlive: false }),
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
      'x-forwarded-for': '203.0.113.9',
    },
  })
  request.end(body ? JSON.stringify(body) : undefined)
  return once(request, 'response') as Promise<[IncomingMessage]>
}

async function send(port: number, method: string, path: string, body?: object, token?: string) {
  const [response] = await open(port, method, path, body, token)
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}

const ways: Record<string, { start(): Promise<number>; skip: string | false }> = {
  'Roost itself': { start: async () => Number(new URL(platform.url).port), skip: false },
  nginx: { start: nginx, skip: !hasProgram('nginx') && 'nginx is not installed' },
  Caddy: { start: caddy, skip: !hasProgram('caddy') && 'caddy is not installed' },
}

for (const [way, { start, skip }] of Object.entries(ways)) {
  describe(`HTTPS by ${way}`, { skip }, () => {
    let port = 0
    before(async () => {
      port = await start()
    })

    test('an answer arrives in pieces', async () => {
      const key = `proxies-${way.replace(' ', '-')}`
      const message = `[[hold:${key}]][[reply:through ${way}]]`
      const [response] = await open(port, 'POST', `/api/agents/${name}/chat`, { message })
      assert.equal(response.statusCode, 200)
      const pieces = response[Symbol.asyncIterator]()
      // The model answers only after this piece has arrived.
      const { value } = await pieces.next()
      assert.match(String(value), /"accepted"/)
      platform.model.release(key)
      let rest = ''
      for await (const piece of { [Symbol.asyncIterator]: () => pieces }) rest += piece
      assert.match(rest, new RegExp(`through ${way}`))
      assert.match(rest, /"type":"result"|"done"/)
    })

    test('live sockets work', async () => {
      const { ticket } = JSON.parse((await send(port, 'POST', '/api/ws/ticket')).text)
      const socket = new WebSocket(`wss://127.0.0.1:${port}/ws?ticket=${ticket}`, { ca })
      const pong = new Promise<void>((done, refuse) => {
        socket.on('message', (message) => String(message) === 'pong' && done())
        socket.on('error', refuse)
        socket.on('close', (code) => refuse(new Error(`closed with ${code}`)))
      })
      socket.on('open', () => socket.send('ping'))
      await pong
      socket.terminate()
    })

    test('the largest file passes', async () => {
      const content = 'x'.repeat(5 * 1024 * 1024)
      const saved = await send(port, 'PUT', `/api/agents/${name}/files?path=large.txt`, { content })
      assert.equal(saved.status, 200, saved.text.slice(0, 300))
      const read = await send(port, 'GET', `/api/agents/${name}/files/download?path=large.txt`)
      assert.equal(read.text.length, content.length)
    })

    test('the address of the client is recorded, whatever it claims, and browsers are told to stay', async () => {
      const created = await platform.request('POST', '/api/mcp/keys', { name: way })
      const { id, key } = created.json
      const read = await send(port, 'GET', '/api/version', undefined, key)
      assert.equal(read.status, 200)
      assert.equal(read.headers['strict-transport-security'], 'max-age=31536000')
      assert.equal(read.headers['x-content-type-options'], 'nosniff')
      const { json } = await platform.request('GET', `/api/audit-log?mcp_key_id=${id}`)
      assert.deepEqual(
        json.entries.map((entry: Loose) => [entry.endpoint, entry.actor_ip]),
        [['GET /api/version', clientIp]],
      )
    })
  })
}
