import type { IncomingMessage } from 'node:http'
import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { SocketRoute } from '../../http/sockets.ts'
import type { KeyCaller, SignedIn } from '../../identity/access/index.ts'
import { type CallerOf, mayWatch } from './credential.ts'
import type { Sockets } from './service.ts'
import type { Tickets } from './tickets.ts'

export type SocketRouteDeps = {
  sockets: Pick<Sockets, 'accept'>
  tickets: Pick<Tickets, 'redeem'>
  callerOf: CallerOf
  verifyKey(presented: string): Promise<KeyCaller | null>
  agentRecords: Pick<AgentRecords, 'byId'>
}

/** Clients send only short messages. */
const maxPayload = 4 * 1024

const unauthorized = { close: socketCloseCodes.unauthorized, reason: 'the credential is not valid' }

/**
 * `/ws` and `/ws/events`. They ignore `Origin`: browsers never send these credentials automatically, so a foreign page
 * cannot open a socket.
 */
export function liveSocketRoutes(deps: SocketRouteDeps): SocketRoute[] {
  const { sockets, tickets, callerOf, verifyKey, agentRecords } = deps

  const accept = (caller: SignedIn, query: URLSearchParams): Awaited<ReturnType<SocketRoute['admit']>> => ({
    open: (socket) => sockets.accept(socket, caller, lastEventIdOf(query)),
    caller,
  })

  async function isEphemeral({ key }: KeyCaller): Promise<boolean> {
    if (key.scope !== 'agent' || key.agent_id === null) return false
    const agent = await agentRecords.byId(key.agent_id)
    return agent === null || agent.ephemeral !== null
  }

  return [
    {
      path: '/ws',
      maxPayload,
      async admit(request) {
        const query = queryOf(request)
        const credential = await tickets.redeem(query.get('ticket') ?? '')
        const caller = credential && (await callerOf(credential))
        return caller ? accept(caller, query) : unauthorized
      },
    },
    {
      path: '/ws/events',
      maxPayload,
      async admit(request) {
        const query = queryOf(request)
        const caller = await verifyKey(query.get('token') ?? '')
        if (!caller) return unauthorized
        if (!mayWatch(caller) || (await isEphemeral(caller))) {
          return { close: socketCloseCodes.forbidden, reason: 'this key opens no sockets', caller }
        }
        return accept(caller, query)
      },
    },
  ]
}

function queryOf(request: IncomingMessage): URLSearchParams {
  const url = request.url ?? ''
  return new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
}

/** Null for an empty id too, which a new client sends. */
function lastEventIdOf(query: URLSearchParams): string | null {
  return query.get('last_event_id') || query.get('last-event-id') || null
}
