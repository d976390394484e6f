import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage, request as plainRequest } from 'node:http'
import { createServer, request } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { createIssuer, makeAuthority } from '../certificates.ts'
import type { EgressProxy } from '../proxy.ts'

const day = 24 * 3600 * 1000
type Heard = { method: string; url: string; headers: IncomingMessage['headers']; body: string }

/** Hosts of the world outside: one server for all names, with an authority of its own that this process trusts. */
export async function startOutside(names: readonly string[], answer: (heard: Heard) => OutsideAnswer) {
  const now = Date.now()
  const validity = { notBefore: new Date(now - day), notAfter: new Date(now + day) }
  const made = await makeAuthority(validity.notBefore, validity.notAfter)
  const issuer = await createIssuer(made)
  const signed = new Map(
    await Promise.all(names.map(async (name) => [name, await issuer.issue(name, validity)] as const)),
  )
  setDefaultCACertificates([...getCACertificates('default'), made.certificate])
  const heard: Heard[] = []
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
  server.on('request', async (asked, reply) => {
    const pieces = await asked.toArray()
    const one = {
      method: asked.method ?? '',
      url: asked.url ?? '',
      headers: asked.headers,
      body: Buffer.concat(pieces).toString(),
    }
    heard.push(one)
    const { status = 200, headers = {}, body = '' } = answer(one)
    reply.writeHead(status, headers).end(body)
  })
  server.on('upgrade', (asked, socket) => {
    socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.write(`auth ${asked.headers.authorization}`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('error', () => {})
  })
  await listening(server)
  return {
    port: portOf(server),
    heard,
    certificate: made.certificate,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
export type OutsideAnswer = { status?: number; headers?: Record<string, string>; body?: string | Buffer }

/** Speaks first, and then says what it hears. */
export async function startGreeter() {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.write('hello\n')
    socket.pipe(socket)
  })
  await listening(server)
  return { port: portOf(server), [Symbol.dispose]: () => void server.close() }
}

/** The proxy on a port, as the internal listener serves it. */
export async function serveProxy(proxy: EgressProxy) {
  const server = createPlainServer((asked, reply) => void proxy.handle(asked, reply))
  server.on('connect', (asked, socket, head) => void proxy.connect(asked, socket, head))
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

/** A program of an agent that goes out over the proxy. */
export function createProgram(at: { port: number; user: string; ticket: string; trusts: string[] }) {
  const authorization = `Basic ${Buffer.from(`${at.user}:${at.ticket}`).toString('base64')}`

  /** CONNECT, and TLS when that succeeds. */
  async function dial(host: string, port: number, withTls = true, servername = host): Promise<Dialled> {
    const asked = plainRequest({
      host: '127.0.0.1',
      port: at.port,
      method: 'CONNECT',
      path: `${host}:${port}`,
      headers: { 'proxy-authorization': authorization },
    }).end()
    const [reply, socket, head] = await once(asked, 'connect')
    // What the far side has said already.
    socket.unshift(head)
    const told = { status: reply.statusCode, words: reply.statusMessage }
    if (reply.statusCode !== 200 || !withTls) {
      if (reply.statusCode !== 200) socket.destroy()
      return { ...told, socket: reply.statusCode === 200 ? socket : null }
    }
    const secured = tlsConnect({ socket, servername, ca: at.trusts })
    await once(secured, 'secureConnect')
    return { ...told, socket: secured }
  }

  return {
    dial,
    /** One request over a connection of its own. */
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
    /** A request in the open, with its address in full. */
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
  // A server that listens on a port has an address of that kind.
  return (server.address() as AddressInfo).port
}
