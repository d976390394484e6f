import { voiceCloseCodes } from '@roost/contracts/conversations/voice'
import type { SocketRoute } from '../../http/sockets.ts'
import { frameMost } from './line-socket.ts'
import type { NotAdmitted, Voice } from './service.ts'

const closings: Record<NotAdmitted, { close: number; reason: string }> = {
  bad_ticket: { close: voiceCloseCodes.badTicket, reason: 'the ticket is not valid' },
  not_yours: { close: voiceCloseCodes.notYours, reason: 'this is the call of somebody else' },
  unknown: { close: voiceCloseCodes.unknown, reason: 'there is no such call' },
}

/** `/ws/voice/{id}`. No `Origin` is looked at: a ticket is nothing that a browser sends by itself. */
export function voiceSocketRoutes(voice: Pick<Voice, 'admit' | 'carry'>): SocketRoute[] {
  return [
    {
      path: '/ws/voice/{id}',
      maxPayload: frameMost,
      async admit(request, id) {
        const url = request.url ?? ''
        const asked = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
        const found = await voice.admit(id, asked.get('ticket') ?? '')
        if (typeof found === 'string') return closings[found]
        const { call, admitted } = found
        return { open: (socket) => voice.carry(call, admitted, socket), caller: admitted.caller }
      },
    },
  ]
}
