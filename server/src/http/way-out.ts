import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** What serves the agents' way out. */
export type WayOut = {
  connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

/**
 * The way out on an internal server. A program that sends everything through its proxy, what is meant for the
 * platform included, is heard as if it had come straight.
 */
export function attachWayOut(server: Server, wayOut: WayOut, port: number): void {
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isOwn(request, request.url ?? '', port)) return void wayOut.connect(request, socket, head)
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    server.emit('connection', socket)
  })
}

/** The same for addresses in full. */
export function withOwnAddress(port: number, rest: RequestListener): RequestListener {
  return (request, response) => {
    const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(request.url ?? '') ?? []
    if (authority !== '' && isOwn(request, authority, port))
      request.url = path.startsWith('/') ? path : `/${path}`
    return rest(request, response)
  }
}

/** The address is the one at which this very connection came in. */
function isOwn({ socket }: IncomingMessage, authority: string, port: number): boolean {
  const [, host = '', named] = /^(.*):(\d+)$/.exec(authority) ?? []
  if (Number(named) !== port) return false
  const local = socket instanceof Socket ? socket.localAddress : undefined
  // Behind a unix socket stands a sandbox, whose forwarder has this address.
  return host.replace(/^\[|\]$/g, '') === (local?.replace(/^::ffff:/, '') ?? '127.0.0.1')
}
