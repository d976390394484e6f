import {
  callStatus,
  deleteCallBinding,
  getCallBinding,
  putCallBinding,
  putCallsEnabled,
  type StartedCall,
  startCall,
} from '@roost/contracts/conversations/calls'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import type { SocketRoute } from '../../http/sockets.ts'
import { Fault } from '../../kit/fault.ts'
import type { Calls } from './service.ts'

type RoutedCalls = Pick<Calls, 'bindings' | 'start' | 'receiveStatus' | 'media' | 'isOn'>

export function callRoutes({ bindings, start, receiveStatus, isOn }: RoutedCalls): Route[] {
  const routes = [
    agentRoute(getCallBinding, ({ agent }) => bindings.show(agent)),
    agentRoute(putCallBinding, ({ agent, body, request }) => {
      request.note({ account_sid: body.account_sid })
      return bindings.put(agent, body)
    }),
    agentRoute(deleteCallBinding, ({ agent }) => bindings.remove(agent)),
    agentRoute(putCallsEnabled, ({ agent, body, request }) => {
      request.note({ enabled: body.enabled })
      return bindings.setEnabled(agent, body.enabled)
    }),
    agentRoute(startCall, async ({ caller, agent, body, request }) => {
      const reply = await start({ caller, agent, body }, request.header('idempotency-key'))
      request.note({ replayed: reply.replayed })
      // Stored by this feature in the same shape as the first response.
      const { execution_id } = reply.body as StartedCall
      const headers = {
        'x-execution-id': execution_id,
        ...(reply.replayed ? { 'x-idempotent-replay': 'true' } : {}),
      }
      return answer(reply.body, { status: reply.status, headers })
    }),
    route(callStatus, async ({ params, body, request }) => {
      request.note({ call_id: params.call_id })
      await receiveStatus(params.call_id, { body, signature: request.header('x-twilio-signature') })
      return undefined
    }),
  ]
  return routes.map((each) => ({ ...each, admit: async () => requireEnabled(isOn) }))
}

/** The provider's frames hold 20 ms of audio. */
const maxFrameBytes = 64 * 1024

export function callSocketRoutes({ media, isOn }: RoutedCalls): SocketRoute[] {
  return [
    {
      path: '/api/public/voip/media/{id}',
      maxPayload: maxFrameBytes,
      async admit(_request, callId) {
        requireEnabled(isOn)
        return media.admit(callId)
      },
    },
  ]
}

function requireEnabled(isOn: () => boolean): void {
  if (!isOn()) throw new Fault('feature_disabled')
}
