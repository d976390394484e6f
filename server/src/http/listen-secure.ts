import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer, type Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { followServer } from '@roost/contracts/kit/closing'
import { isLoopback } from './client-address.ts'
import { CannotListen, defaultTimeouts } from './listen.ts'
import { answerBrokenRequests } from './raw-problem.ts'

export type SecureListening = {
  port: number
  /** Handles requests and sockets of both protocols. */
  servers: readonly Server[]
  /** For new connections; open ones keep theirs. */
  setCertificate(certificate: Certificate): void
  close(graceMs: number): Promise<void>
}

/** In PEM format. */
export type Certificate = { cert: string; key: string }

/** The first byte of a TLS connection: a handshake record. */
const tlsHandshake = 0x16
/** Time for the first byte of a connection. */
const firstByteMs = 30_000

/**
 * Serves HTTPS on one address. Programs of this machine, such as the MCP server and `roost doctor`, may also use HTTP
 * there: their certificate would have the wrong name. Other HTTP requests are redirected to `publicUrl`.
 */
export async function listenSecure(
  address: { host: string; port: number },
  handler: RequestListener,
  {
    certificate,
    publicUrl,
    isLocal = isOfThisMachine,
  }: { certificate: Certificate; publicUrl: string; isLocal?: (socket: Socket) => boolean },
): Promise<SecureListening> {
  const secure = createHttpsServer({ ...defaultTimeouts, ...contextOf(certificate) }, handler)
  const local = createHttpServer(defaultTimeouts, handler)
  const redirecting = createHttpServer(defaultTimeouts, (request, response) => {
    const path = request.url?.startsWith('/') ? request.url : '/'
    // 308 keeps the method and the body.
    response.writeHead(308, { location: new URL(publicUrl).origin + path, connection: 'close' }).end()
  })
  redirecting.on('upgrade', (_, socket) => socket.destroy())
  const all = [secure, local, redirecting]
  const followed = all.map((server) => {
    answerBrokenRequests(server as Server)
    // Starts the timeouts of requests: these servers get their connections from `front`.
    server.emit('listening')
    return followServer(server)
  })

  const front = createSocketServer((socket) => {
    const onError = () => socket.destroy()
    socket.on('error', onError)
    socket.setTimeout(firstByteMs, onError)
    socket.once('readable', () => {
      const first: Buffer | null = socket.read()
      // The connection ended without a byte.
      if (first === null) return void socket.destroy()
      socket.off('error', onError)
      socket.setTimeout(0)
      socket.removeListener('timeout', onError)
      socket.unshift(first)
      serverOf(socket, first).emit('connection', socket)
    })
  })
  const serverOf = (socket: Socket, first: Buffer) => {
    if (first[0] === tlsHandshake) return secure
    return isLocal(socket) ? local : redirecting
  }
  const followedFront = followFront(front)

  await new Promise<void>((resolve, reject) => {
    front.once('error', (error) => reject(new CannotListen(address, error)))
    front.listen(address.port, address.host, resolve)
  })
  const bound = front.address()
  return {
    port: typeof bound === 'object' && bound ? bound.port : address.port,
    // Sockets of both arrive in the same way.
    servers: [secure as object as Server, local],
    setCertificate: (next) => secure.setSecureContext(contextOf(next)),
    async close(graceMs) {
      const closed = followedFront()
      await Promise.all(followed.map(({ close }) => close(graceMs)))
      await closed
    },
  }
}

/** A program of this machine that connects to one of its addresses has the same address. */
function isOfThisMachine({ remoteAddress, localAddress }: Socket): boolean {
  return isLoopback(remoteAddress) || (remoteAddress !== undefined && remoteAddress === localAddress)
}

function contextOf({ cert, key }: Certificate): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2' }
}

/** Connections that have not sent a byte belong to no server yet. */
function followFront(front: ReturnType<typeof createSocketServer>): () => Promise<void> {
  const silent = new Set<Socket>()
  front.on('connection', (socket) => {
    silent.add(socket)
    const remove = () => silent.delete(socket)
    socket.once('readable', remove)
    socket.once('close', remove)
  })
  return () => {
    const closed = new Promise<void>((resolve) => front.close(() => resolve()))
    for (const socket of silent) socket.destroy()
    return closed
  }
}
