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

/** One path on which sockets are opened. */
export type SocketRoute = {
  /** One part in braces, as in `/ws/voice/{id}`, stands for one part of any text, which `admit` is given. */
  path: string
  maxPayload: number
  /** How opening one is named in the audit log; left out: of an opened one nothing is told, unless by a key. */
  audit?: { type: AuditType; action: string }
  /**
   * Looks at the request before the socket exists. A thrown `Fault` is answered as plain HTTP with its
   * status; `close` opens the socket only to close it with a code that browsers can read. `caller`: whose
   * credential it was, where that is known. `target`: what it was about.
   */
  admit(
    request: IncomingMessage,
    part: string,
  ): Promise<
    ({ open(socket: WebSocket): void } | Closed) & { caller?: Caller; target?: { type: string; id: string } }
  >
}

/** `like`: the status of a plain answer that says the same; left out: 403 for 4003, else 401. */
type Closed = { close: number; reason: string; like?: number }

/** Somebody who was let in, or was not: by a close code, or by an error in the upgrade's own answer. */
export type AskedSocket = {
  path: string
  ip: string
  caller: Caller | null
  audit?: SocketRoute['audit']
  target?: { type: string; id: string }
  /** Null: the socket was opened. */
  why: null | Closed | { status: number; error: ErrorCode }
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
    const found = servers.find(({ pattern }) => pattern.test(path))
    const id = requestId(request)
    if (!found) return void stream.end(rawProblem(new Fault('not_found'), id))
    const { audit } = found.route
    const from = { path: found.route.path, ip: addressOf(request), ...(audit ? { audit } : {}) }
    try {
      const decision = await found.route.admit(request, found.pattern.exec(path)?.[1] ?? '')
      if (stream.destroyed) return
      found.sockets.handleUpgrade(request, stream, head, (socket) => {
        if ('open' in decision) return decision.open(socket)
        socket.on('error', () => socket.terminate())
        socket.close(decision.close, decision.reason)
      })
      const { caller = null, target } = decision
      const why = 'close' in decision ? decision : null
      asked({ ...from, caller, why, ...(target ? { target } : {}) })
    } catch (error) {
      if (isFault(error)) {
        const why = { status: statusOf(error.code), error: error.code }
        asked({ ...from, caller: null, why })
      } else log.error({ request_id: id, err: error, path: found.route.path }, 'socket refused by a fault')
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
