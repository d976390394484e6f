import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { forwarderHost } from '@roost/contracts/link/addresses'

/** Serves the outbound connections of agents. */
export type Outbound = {
  connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

/**
 * Serves `CONNECT` on an internal server. A program may send requests for the platform through the proxy too;
 * those are handled like direct connections.
 */
export function attachOutbound(server: Server, outbound: Outbound, port: number): void {
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isOwn(request, request.url ?? '', port)) return void outbound.connect(request, socket, head)
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    server.emit('connection', socket)
  })
}

/** Handles proxy requests with a full URL of the platform like direct requests. */
export function withOwnAddress(port: number, rest: RequestListener): RequestListener {
  return (request, response) => {
    const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(request.url ?? '') ?? []
    if (authority !== '' && isOwn(request, authority, port))
      request.url = path.startsWith('/') ? path : `/${path}`
    return rest(request, response)
  }
}

/** True if the address is the local address of this connection, or that of the forwarder which the agent used. */
function isOwn({ socket }: IncomingMessage, authority: string, port: number): boolean {
  const [, host = '', portText] = /^(.*):(\d+)$/.exec(authority) ?? []
  if (host === forwarderHost) return true
  if (Number(portText) !== port) return false
  const local = socket instanceof Socket ? socket.localAddress : undefined
  // On a unix socket, the forwarder of the sandbox has this address.
  return host.replace(/^\[|\]$/g, '') === (local?.replace(/^::ffff:/, '') ?? '127.0.0.1')
}
