import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { WebSocket } from 'ws'
import { silentLog } from '../ports/log.ts'
import { createTestCertificates } from '../test/certificates.ts'
import { listenSecure } from './listen-secure.ts'
import { serveSockets } from './sockets.ts'
import { withTransportHeaders } from './transport-headers.ts'

const certificate = createTestCertificates()
const first = certificate('first')

async function start(options: { isLocal?: () => boolean; trustedProxies?: string[] } = {}) {
  const open = await listenSecure(
    { host: '127.0.0.1', port: 0 },
    withTransportHeaders(options.trustedProxies ?? [], (request, response) => {
      request.on('data', () => {}).on('end', () => response.end(`${request.method} ${request.url}`))
    }),
    { certificate: first, publicUrl: 'https://roost.example/', ...options },
  )
  after(() => open.close(0))
  for (const server of open.servers)
    serveSockets(
      server,
      [{ path: '/ws', maxPayload: 100, admit: async () => ({ open: (socket) => socket.send('hello') }) }],
      silentLog,
    )
  const ask = async (protocol: 'http' | 'https', path: string, options: object = {}) => {
    const send = protocol === 'http' ? httpRequest : httpsRequest
    const agent = protocol === 'https' ? new Agent({ ca: first.cert }) : undefined
    const request = send({ host: '127.0.0.1', port: open.port, path, agent, ...options })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { open, ask }
}

test('one port serves HTTPS, and HTTP to this machine; only HTTPS has HSTS', async () => {
  const { ask } = await start()
  const secure = await ask('https', '/a')
  assert.deepEqual([secure.status, secure.body], [200, 'GET /a'])
  assert.equal(secure.headers['strict-transport-security'], 'max-age=31536000')
  assert.equal(secure.headers['x-content-type-options'], 'nosniff')
  const plain = await ask('http', '/b', { headers: { 'x-forwarded-proto': 'https' } })
  assert.deepEqual([plain.status, plain.body], [200, 'GET /b'])
  assert.equal(plain.headers['strict-transport-security'], undefined, 'the sender is no trusted proxy')
  assert.equal(plain.headers['x-content-type-options'], 'nosniff')
})

test('HSTS behind a trusted proxy that says https', async () => {
  const { ask } = await start({ trustedProxies: ['127.0.0.1'] })
  const asked = async (scheme: string) =>
    (await ask('http', '/', { headers: { 'x-forwarded-proto': scheme } })).headers[
      'strict-transport-security'
    ]
  assert.equal(await asked('https'), 'max-age=31536000')
  assert.equal(await asked('http'), undefined)
})

test('other machines are redirected from HTTP, with path and method, and get no socket', async () => {
  const { ask, open } = await start({ isLocal: () => false })
  const redirected = await ask('http', '/a?b=c', { method: 'POST' })
  assert.deepEqual([redirected.status, redirected.headers.location], [308, 'https://roost.example/a?b=c'])
  const outside = await ask('http', 'http://evil.example/x')
  assert.equal(outside.headers.location, 'https://roost.example/')
  const socket = new WebSocket(`ws://127.0.0.1:${open.port}/ws`)
  await once(socket, 'error')
  assert.equal((await ask('https', '/')).status, 200)
})

test('live sockets over TLS and, from this machine, without', async () => {
  const { open } = await start()
  for (const url of [`wss://127.0.0.1:${open.port}/ws`, `ws://127.0.0.1:${open.port}/ws`]) {
    const socket = new WebSocket(url, { ca: first.cert })
    const [message] = await once(socket, 'message')
    assert.equal(String(message), 'hello', url)
    socket.terminate()
  }
})

test('TLS 1.1 is refused', async () => {
  const { open } = await start()
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const socket = connectTls({ host: '127.0.0.1', port: open.port, rejectUnauthorized: false, ...old })
  const [error] = await once(socket, 'error')
  assert.match(error.code, /ERR_SSL_(TLSV1_ALERT_PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE)/)
})

test('a new certificate is used for new connections, and open ones go on', async () => {
  const { open } = await start()
  const connectTo = async () => {
    const socket = connectTls({ host: '127.0.0.1', port: open.port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    return socket
  }
  const before = await connectTo()
  assert.equal(before.getPeerCertificate().subject.CN, 'first')
  open.setCertificate(certificate('second'))
  const next = await connectTo()
  assert.equal(next.getPeerCertificate().subject.CN, 'second')
  before.write('GET /old HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  assert.match(await text(before), /GET \/old$/m)
  next.destroy()
})

test('closing ends connections that have sent nothing, and open ones of both kinds', async () => {
  const { open } = await start()
  const silent = connect(open.port, '127.0.0.1')
  await once(silent, 'connect')
  const secure = connectTls({ host: '127.0.0.1', port: open.port, rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  const ends = Promise.all([once(silent, 'close'), once(secure, 'close')])
  await open.close(0)
  silent.resume()
  secure.resume()
  await ends
})
