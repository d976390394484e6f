import * as endpoints from '@roost/contracts/operations/push'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { Push } from './service.ts'

export function pushRoutes(push: Push): Route[] {
  return [
    signedInRoute(endpoints.getPushKey, async () => ({ public_key: await push.publicKey() })),
    signedInRoute(endpoints.listPushDevices, ({ caller }) => push.list(caller)),
    signedInRoute(endpoints.putPushDevice, async ({ caller, body, request }) => {
      const device = await push.put(caller, body)
      request.note({ device_id: device.id, push_service: new URL(body.endpoint).host })
      return device
    }),
    signedInRoute(endpoints.deletePushDevice, async ({ caller, params, request }) => {
      await push.remove(caller, params.id)
      request.note({ device_id: params.id })
      return { message: 'Notifications are off for this device.', id: params.id }
    }),
    signedInRoute(endpoints.testPushDevice, async ({ caller, params, request }) => {
      const result = await push.test(caller, params.id)
      request.note({ device_id: params.id, accepted: result.accepted })
      return result
    }),
  ]
}
