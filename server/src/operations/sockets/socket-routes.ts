import type { IncomingMessage } from 'node:http'
import type { KeyScope } from '@roost/contracts/kit/access'
import { socketCloseCodes } from '@roost/contracts/operations/sockets'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { SocketRoute } from '../../http/sockets.ts'
import type { KeyCaller, SignedIn } from '../../identity/access/index.ts'
import type { CallerOf } from './credential.ts'
import type { Sockets } from './service.ts'
import type { Tickets } from './tickets.ts'

export type SocketRouteDeps = {
  sockets: Pick<Sockets, 'accept'>
  tickets: Pick<Tickets, 'redeem'>
  callerOf: CallerOf
  verifyKey(presented: string): Promise<KeyCaller | null>
  agentRecords: Pick<AgentRecords, 'byId'>
}

/** An allow-list, so that a scope added later is refused. */
const scopes: readonly KeyScope[] = ['user', 'agent', 'system']
/** Clients have little to say. */
const maxPayload = 4 * 1024

const refused = { close: socketCloseCodes.unauthorized, reason: 'the credential is not valid' }

/**
 * `/ws` and `/ws/events`. No `Origin` is looked at: neither credential is one that a browser sends by itself,
 * so a page of somebody else has nothing to open a socket with.
 */
export function liveSocketRoutes(deps: SocketRouteDeps): SocketRoute[] {
  const { sockets, tickets, callerOf, verifyKey, agentRecords } = deps

  const opened = (caller: SignedIn, asked: URLSearchParams): Awaited<ReturnType<SocketRoute['admit']>> => ({
    open: (socket) => sockets.accept(socket, caller, lastEventIdOf(asked)),
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
        const asked = queryOf(request)
        const credential = await tickets.redeem(asked.get('ticket') ?? '')
        const caller = credential && (await callerOf(credential))
        return caller ? opened(caller, asked) : refused
      },
    },
    {
      path: '/ws/events',
      maxPayload,
      async admit(request) {
        const asked = queryOf(request)
        const caller = await verifyKey(asked.get('token') ?? '')
        if (!caller) return refused
        if (!scopes.includes(caller.key.scope) || (await isEphemeral(caller))) {
          return { close: socketCloseCodes.forbidden, reason: 'this key opens no sockets', caller }
        }
        return opened(caller, asked)
      },
    },
  ]
}

function queryOf(request: IncomingMessage): URLSearchParams {
  const url = request.url ?? ''
  return new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
}

/** An empty one is that of a client that has seen nothing yet. */
function lastEventIdOf(asked: URLSearchParams): string | null {
  return asked.get('last_event_id') || asked.get('last-event-id') || null
}
