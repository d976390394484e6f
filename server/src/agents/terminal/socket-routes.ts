import { terminalFrameLimit, terminalPath } from '@roost/contracts/agents/terminal'
import type { SocketRoute } from '../../http/sockets.ts'
import { closings } from './rules.ts'
import type { Terminals } from './terminals.ts'

/** `…/terminal`. No `Origin` is looked at: a ticket is nothing that a browser sends by itself. */
export function terminalSocketRoutes(terminals: Pick<Terminals, 'admit' | 'carry'>): SocketRoute[] {
  return [
    {
      path: terminalPath,
      maxPayload: terminalFrameLimit,
      audit: { type: 'credentials', action: 'open_terminal' },
      async admit(request, name) {
        const url = request.url ?? ''
        const asked = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
        const target = { type: 'agent', id: name }
        const found = await terminals.admit(asked.get('ticket') ?? '', name)
        if (!('refused' in found)) {
          return { open: (socket) => terminals.carry(found, socket), caller: found.caller, target }
        }
        const { refused, caller } = found
        const like = refused === closings.stopped ? 409 : undefined
        return { ...refused, target, ...(caller ? { caller } : {}), ...(like ? { like } : {}) }
      },
    },
  ]
}
