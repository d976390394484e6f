import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorCatalogue, statusOf } from '@roost/contracts/kit/errors'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Caller } from '../identity/access/caller.ts'
import { isFault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { clientAddress } from './client-address.ts'

/** One path on which sockets are opened. */
export type SocketRoute = {
  /** A last part in braces, as in `/ws/voice/{id}`, stands for one part of any text, which `admit` is given. */
  path: string
  maxPayload: number
  /**
   * Looks at the request before the socket exists. A thrown `Fault` is answered as plain HTTP with its
   * status; `close` opens the socket only to close it with a code that browsers can read. `caller`: whose
   * credential it was, where that is known.
   */
  admit(
    request: IncomingMessage,
    part: string,
  ): Promise<({ open(socket: WebSocket): void } | { close: number; reason: string }) & { caller?: Caller }>
}

/** Somebody who was let in, or was not: by a close code, or by an error in the upgrade's own answer. */
export type AskedSocket = {
  path: string
  ip: string
  caller: Caller | null
  /** Null: the socket was opened. */
  why: null | { close: number; reason: string } | { status: number; error: ErrorCode }
}

/** Lets `server` open sockets on `routes`; every other upgrade is answered 404. */
export function serveSockets(
  server: Server,
  routes: SocketRoute[],
  log: Log,
  {
    asked = () => {},
    addressOf = clientAddress([]),
  }: { asked?(socket: AskedSocket): void; addressOf?(request: IncomingMessage): string } = {},
): { close(): void } {
  const servers = new Map(
    routes.map((route) => {
      const sockets = new WebSocketServer({
        noServer: true,
        maxPayload: route.maxPayload,
        perMessageDeflate: false,
      })
      return [route.path.replace(/\{\w+\}$/, anyPart), { route, sockets }] as const
    }),
  )
  const onUpgrade = async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy())
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const part = path.slice(path.lastIndexOf('/') + 1)
    const found = servers.get(path) ?? servers.get(patternOf(path, part))
    if (!found) return refuse(stream, 'not_found')
    const from = { path: found.route.path, ip: addressOf(request) }
    try {
      const decision = await found.route.admit(request, part)
      if (stream.destroyed) return
      found.sockets.handleUpgrade(request, stream, head, (socket) => {
        if ('open' in decision) return decision.open(socket)
        socket.on('error', () => socket.terminate())
        socket.close(decision.close, decision.reason)
      })
      const { caller = null } = decision
      const why = 'close' in decision ? { close: decision.close, reason: decision.reason } : null
      asked({ ...from, caller, why })
    } catch (error) {
      if (isFault(error)) {
        const why = { status: statusOf(error.code), error: error.code }
        asked({ ...from, caller: null, why })
        return refuse(stream, error.code)
      }
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

/** Stands for the part that may be any. */
const anyPart = '{}'

function patternOf(path: string, part: string): string {
  return part === '' ? path : path.slice(0, -part.length) + anyPart
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
