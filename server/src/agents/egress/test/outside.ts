import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage, request as plainRequest } from 'node:http'
import { createServer, request } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { createIssuer, makeAuthority } from '../certificates.ts'
import type { EgressProxy } from '../proxy.ts'

const day = 24 * 3600 * 1000
type ReceivedRequest = { method: string; url: string; headers: IncomingMessage['headers']; body: string }

/** External hosts: one server for all names, with its own CA that this process trusts. */
export async function startOutside(
  names: readonly string[],
  answer: (request: ReceivedRequest) => OutsideAnswer,
) {
  const now = Date.now()
  const validity = { notBefore: new Date(now - day), notAfter: new Date(now + day) }
  const authority = await makeAuthority(validity.notBefore, validity.notAfter)
  const issuer = await createIssuer(authority)
  const signed = new Map(
    await Promise.all(names.map(async (name) => [name, await issuer.issue(name, validity)] as const)),
  )
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
  const requests: ReceivedRequest[] = []
  const { createSecureContext } = await import('node:tls')
  const server = createServer({
    SNICallback(name, done) {
      const leaf = signed.get(name)
      done(null, leaf && createSecureContext({ cert: leaf.certificate, key: leaf.key }))
    },
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  server.on('request', async (request, reply) => {
    const pieces = await request.toArray()
    const received = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(pieces).toString(),
    }
    requests.push(received)
    const { status = 200, headers = {}, body = '' } = answer(received)
    reply.writeHead(status, headers).end(body)
  })
  server.on('upgrade', (request, socket) => {
    socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.write(`auth ${request.headers.authorization}`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('error', () => {})
  })
  await listening(server)
  return {
    port: portOf(server),
    requests,
    certificate: authority.certificate,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
export type OutsideAnswer = { status?: number; headers?: Record<string, string>; body?: string | Buffer }

/** A TCP server that sends first and then echoes. */
export async function startGreeter() {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.write('hello\n')
    socket.pipe(socket)
  })
  await listening(server)
  return { port: portOf(server), [Symbol.dispose]: () => void server.close() }
}

/** A TCP server that answers everything with these bytes, or not at all. */
export async function startRawHost(reply: string | null) {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => void (reply === null || socket.end(reply)))
  })
  await listening(server)
  return { port: portOf(server), [Symbol.dispose]: () => void server.close() }
}

/** Serves the proxy on a port as the internal listener does. */
export async function serveProxy(proxy: EgressProxy) {
  const server = createPlainServer((request, reply) => void proxy.handle(request, reply))
  server.on('connect', (request, socket, head) => void proxy.connect(request, socket, head))
  await listening(server)
  return {
    port: portOf(server),
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Dialled = { status: number; words: string; socket: TLSSocket | null }

/** A program of an agent that uses the proxy. */
export function createProgram(at: { port: number; user: string; ticket: string; trusts: string[] }) {
  const authorization = `Basic ${Buffer.from(`${at.user}:${at.ticket}`).toString('base64')}`

  /** Sends CONNECT, and starts TLS if it succeeds. */
  async function dial(host: string, port: number, withTls = true, servername = host): Promise<Dialled> {
    const connect = plainRequest({
      host: '127.0.0.1',
      port: at.port,
      method: 'CONNECT',
      path: `${host}:${port}`,
      headers: { 'proxy-authorization': authorization },
    }).end()
    const [reply, socket, head] = await once(connect, 'connect')
    // Bytes that the far side has already sent.
    socket.unshift(head)
    const result = { status: reply.statusCode, words: reply.statusMessage }
    if (reply.statusCode !== 200 || !withTls) {
      if (reply.statusCode !== 200) socket.destroy()
      return { ...result, socket: reply.statusCode === 200 ? socket : null }
    }
    const secured = tlsConnect({ socket, servername, ca: at.trusts })
    await once(secured, 'secureConnect')
    return { ...result, socket: secured }
  }

  return {
    dial,
    /** One request over a new connection. */
    async fetch(
      host: string,
      port: number,
      path: string,
      options: { method?: string; headers?: Record<string, string>; body?: string; named?: string } = {},
    ) {
      const { status, words, socket } = await dial(host, port)
      if (!socket) return { status, words, headers: {}, text: '', issuer: '' }
      const issuer = String(socket.getPeerCertificate().issuer?.CN ?? '')
      const sent = request({
        host: options.named ?? host,
        port,
        path,
        method: options.method ?? 'GET',
        headers: options.headers ?? {},
        createConnection: () => socket,
      })
      sent.end(options.body)
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      const text = Buffer.concat(await reply.toArray()).toString()
      socket.destroy()
      return { status: reply.statusCode ?? 0, words: '', headers: reply.headers, text, issuer }
    },
    /** A plain HTTP request with an absolute URL. */
    async plain(url: string, headers: Record<string, string> = {}) {
      const sent = plainRequest({
        host: '127.0.0.1',
        port: at.port,
        path: url,
        headers: { host: new URL(url).host, 'proxy-authorization': authorization, ...headers },
      }).end()
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      return { status: reply.statusCode ?? 0, text: Buffer.concat(await reply.toArray()).toString() }
    },
  }
}

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

function portOf(server: Server): number {
  // The cast is safe: a TCP server has an address of this type.
  return (server.address() as AddressInfo).port
}
