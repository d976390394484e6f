import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AuditType } from '@roost/contracts/kit/endpoint'
import { type ErrorCode, statusOf } from '@roost/contracts/kit/errors'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Caller } from '../identity/access/caller.ts'
import { Fault, isFault } from '../kit/fault.ts'
import type { Log } from '../ports/log.ts'
import { clientAddress } from './client-address.ts'
import { rawProblem } from './raw-problem.ts'
import { requestId } from './request-id.ts'

/** A path that accepts sockets. */
export type SocketRoute = {
  /** May contain one part in braces, as in `/ws/voice/{id}`, which matches any text and is passed to `admit`. */
  path: string
  maxPayload: number
  /** The audit action for an opened socket. Absent: only sockets opened with a key are recorded. */
  audit?: { type: AuditType; action: string }
  /**
   * Decides on the request before the socket exists. A thrown `Fault` becomes a plain HTTP response; `close` opens
   * the socket only to close it with a code that browsers can read. `caller` and `target` go into the audit log.
   */
  admit(
    request: IncomingMessage,
    part: string,
  ): Promise<
    ({ open(socket: WebSocket): void } | Closed) & { caller?: Caller; target?: { type: string; id: string } }
  >
}

/** `like`: the equivalent HTTP status. Absent: 403 for 4003, else 401. */
type Closed = { close: number; reason: string; like?: number }

/** An attempt to open a socket, accepted or refused by a close code or an HTTP error. */
export type SocketAttempt = {
  path: string
  ip: string
  caller: Caller | null
  audit?: SocketRoute['audit']
  target?: { type: string; id: string }
  /** Null if the socket was opened. */
  why: null | Closed | { status: number; error: ErrorCode }
}

/** Accepts sockets on `routes`; responds 404 to every other upgrade. */
export function serveSockets(
  server: Server,
  routes: SocketRoute[],
  log: Log,
  {
    onSocket = () => {},
    addressOf = clientAddress([]),
  }: { onSocket?(socket: SocketAttempt): void; addressOf?(request: IncomingMessage): string } = {},
): { close(): void } {
  const servers = routes.map((route) => {
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload: route.maxPayload,
      perMessageDeflate: false,
    })
    return { route, sockets, pattern: patternOf(route.path) }
  })
  const onUpgrade = async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy())
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const match = servers.find(({ pattern }) => pattern.test(path))
    const id = requestId(request)
    if (!match) return void stream.end(rawProblem(new Fault('not_found'), id))
    const { audit } = match.route
    const from = { path: match.route.path, ip: addressOf(request), ...(audit ? { audit } : {}) }
    try {
      const decision = await match.route.admit(request, match.pattern.exec(path)?.[1] ?? '')
      if (stream.destroyed) return
      match.sockets.handleUpgrade(request, stream, head, (socket) => {
        if ('open' in decision) return decision.open(socket)
        socket.on('error', () => socket.terminate())
        socket.close(decision.close, decision.reason)
      })
      const { caller = null, target } = decision
      const why = 'close' in decision ? decision : null
      onSocket({ ...from, caller, why, ...(target ? { target } : {}) })
    } catch (error) {
      if (isFault(error)) {
        const why = { status: statusOf(error.code), error: error.code }
        onSocket({ ...from, caller: null, why })
      } else
        log.error(
          { request_id: id, err: error, path: match.route.path },
          'a socket was refused because of an error',
        )
      stream.end(rawProblem(error, id))
    }
  }
  server.on('upgrade', onUpgrade)
  return {
    close() {
      server.off('upgrade', onUpgrade)
      for (const { sockets } of servers) {
        for (const client of sockets.clients) client.terminate()
        sockets.close()
      }
    },
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/, '([^/]+)')}$`)
}
