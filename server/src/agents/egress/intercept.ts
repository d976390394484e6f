import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Log } from '../../ports/log.ts'
import type { Authority } from './authority.ts'
import { idleMs, type Relayed, relay, relayUpgrade } from './relay.ts'
import { parseTarget, type Target } from './rules.ts'

/** A connection to a host with bound credentials. */
export type Opened = Pick<Relayed, 'target' | 'addresses' | 'used' | 'unreachable'> & {
  /** Called for each request, because credentials may change meanwhile. */
  bound(): Promise<Relayed['bound']>
  /** Reports a request for another host. */
  otherHost(): void
}

export type Interceptor = {
  /** Acts as the host towards the agent, which already got the CONNECT reply. */
  open(socket: Duplex, head: Buffer, opened: Opened): Promise<void>
  close(): void
}

/** Open requests of a connection. */
const maxRequests = 64

/**
 * Terminates the agent's TLS with a certificate of the authority, and forwards its requests over a new TLS
 * connection.
 */
export function createInterceptor(deps: { authority: Authority; log: Pick<Log, 'debug'> }): Interceptor {
  const { authority, log } = deps
  const connections = new WeakMap<object, Opened & { agent: TlsAgent; requests: number }>()
  const sockets = new Set<TLSSocket>()
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 })
  server.setTimeout(idleMs)

  async function relayedFor(request: IncomingMessage): Promise<Relayed | null> {
    const opened = connections.get(request.socket)
    const path = request.url ?? ''
    if (!opened || !isFor(request, opened.target)) {
      opened?.otherHost()
      return null
    }
    return { ...opened, isTls: true, path, bound: await opened.bound() }
  }

  /** Pipelined requests arrive all at once, and each of them waits for the host. */
  function isTooMany(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = connections.get(request.socket)
    if (!connection) return false
    connection.requests += 1
    response.once('close', () => {
      connection.requests -= 1
    })
    return connection.requests > maxRequests
  }

  server.on('request', (request, response) => {
    if (isTooMany(request, response)) return void request.socket.destroy()
    relayedFor(request)
      .then((relayed) => {
        if (relayed) return relay(request, response, relayed)
        response.writeHead(421, { 'content-type': 'text/plain', connection: 'close' })
        response.end('This connection is for another host.\n')
      })
      .catch((error: unknown) => {
        log.debug({ err: error }, 'could not relay a request of an agent')
        response.destroy()
      })
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    relayedFor(request)
      .then((relayed) => (relayed ? relayUpgrade(request, socket, head, relayed) : void socket.destroy()))
      .catch(() => socket.destroy())
  })
  server.on('clientError', (_error, socket) => socket.destroy())

  return {
    async open(socket, head, opened) {
      const secureContext = await authority.contextFor(opened.target.host)
      if (socket.destroyed) return
      if (head.length > 0) socket.unshift(head)
      const secured = new TLSSocket(socket, {
        isServer: true,
        secureContext,
        SNICallback(name, answer) {
          if (parseTarget(`${name}:443`)?.host === opened.target.host) return answer(null, secureContext)
          opened.otherHost()
          answer(new Error('the connection is for another host'))
        },
        ALPNProtocols: ['http/1.1'],
      })
      const agent = new TlsAgent({ maxSockets: maxRequests })
      connections.set(secured, { ...opened, agent, requests: 0 })
      sockets.add(secured)
      secured.on('error', (error) => log.debug({ err: error }, 'a TLS connection of an agent failed'))
      secured.once('close', () => {
        sockets.delete(secured)
        agent.destroy()
      })
      server.emit('connection', secured)
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Virtual hosts share an address, so the Host header must match the connection's target. */
function isFor(request: IncomingMessage, target: Target): boolean {
  const hostHeaders = headerValues(request, 'host')
  if (hostHeaders.length !== 1 || !(request.url?.startsWith('/') || request.url === '*')) return false
  const requested = parseTarget(hostHeaders[0] ?? '', 443)
  return requested !== null && requested.host === target.host && requested.port === target.port
}

function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}
