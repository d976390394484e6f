import { terminalFrameLimit, terminalPath } from '@roost/contracts/agents/terminal'
import type { SocketRoute } from '../../http/sockets.ts'
import { closings } from './rules.ts'
import type { Terminals } from './service.ts'

/** `…/terminal`. `Origin` is not checked, because browsers never send a ticket by themselves. */
export function terminalSocketRoutes(terminals: Pick<Terminals, 'admit' | 'carry'>): SocketRoute[] {
  return [
    {
      path: terminalPath,
      maxPayload: terminalFrameLimit,
      audit: { type: 'credentials', action: 'open_terminal' },
      async admit(request, name) {
        const url = request.url ?? ''
        const query = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
        const target = { type: 'agent', id: name }
        const found = await terminals.admit(query.get('ticket') ?? '', name)
        if (!('refused' in found)) {
          return { open: (socket) => terminals.carry(found, socket), caller: found.caller, target }
        }
        const { refused, caller } = found
        const likeStatus = refused === closings.stopped ? 409 : undefined
        return {
          ...refused,
          target,
          ...(caller ? { caller } : {}),
          ...(likeStatus ? { like: likeStatus } : {}),
        }
      },
    },
  ]
}
