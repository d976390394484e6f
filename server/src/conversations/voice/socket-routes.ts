import { voiceCloseCodes } from '@roost/contracts/conversations/voice'
import type { SocketRoute } from '../../http/sockets.ts'
import { maxFrameBytes } from './call-socket.ts'
import type { AdmissionError, Voice } from './service.ts'

const closeReasons: Record<AdmissionError, { close: number; reason: string }> = {
  bad_ticket: { close: voiceCloseCodes.badTicket, reason: 'the ticket is not valid' },
  not_yours: { close: voiceCloseCodes.notYours, reason: 'this is the call of somebody else' },
  unknown: { close: voiceCloseCodes.unknown, reason: 'there is no such call' },
}

/** `/ws/voice/{id}`. The `Origin` header is not checked, because browsers never send a ticket by themselves. */
export function voiceSocketRoutes(voice: Pick<Voice, 'admit' | 'carry'>): SocketRoute[] {
  return [
    {
      path: '/ws/voice/{id}',
      maxPayload: maxFrameBytes,
      async admit(request, id) {
        const url = request.url ?? ''
        const query = new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))
        const admission = await voice.admit(id, query.get('ticket') ?? '')
        if (typeof admission === 'string') return closeReasons[admission]
        const { call, admitted } = admission
        return { open: (socket) => voice.carry(call, admitted, socket), caller: admitted.caller }
      },
    },
  ]
}
