import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorCatalogue } from '@roost/contracts/kit/errors'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { isFault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'

/** One path on which sockets are opened. */
export type SocketRoute = {
  path: string
  maxPayload: number
  /**
   * Looks at the request before the socket exists. A thrown `Fault` is answered as plain HTTP with its
   * status; `close` opens the socket only to close it with a code that browsers can read.
   */
  admit(
    request: IncomingMessage,
  ): Promise<{ open(socket: WebSocket): void } | { close: number; reason: string }>
}

/** Lets `server` open sockets on `routes`; every other upgrade is answered 404. */
export function serveSockets(server: Server, routes: SocketRoute[], log: Log): { close(): void } {
  const servers = new Map(
    routes.map((route) => {
      const sockets = new WebSocketServer({
        noServer: true,
        maxPayload: route.maxPayload,
        perMessageDeflate: false,
      })
      return [route.path, { route, sockets }] as const
    }),
  )
  const onUpgrade = async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy())
    const found = servers.get((request.url ?? '').split('?', 1)[0] ?? '')
    if (!found) return refuse(stream, 'not_found')
    try {
      const decision = await found.route.admit(request)
      if (stream.destroyed) return
      found.sockets.handleUpgrade(request, stream, head, (socket) => {
        if ('open' in decision) return decision.open(socket)
        socket.on('error', () => socket.terminate())
        socket.close(decision.close, decision.reason)
      })
    } catch (error) {
      if (isFault(error)) return refuse(stream, error.code)
      log.error({ err: error, path: found.route.path }, 'socket refused by a fault')
      refuse(stream, 'internal_error')
    }
  }
  server.on('upgrade', onUpgrade)
  return {
    close() {
      server.off('upgrade', onUpgrade)
      for (const { sockets } of servers.values()) {
        for (const client of sockets.clients) client.terminate()
        sockets.close()
      }
    },
  }
}

function refuse(stream: Duplex, code: ErrorCode): void {
  const [status, detail] = errorCatalogue[code]
  const body = JSON.stringify({ detail, error: code })
  const auth = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : ''
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n${auth}` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
