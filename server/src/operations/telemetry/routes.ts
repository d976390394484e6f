import { getContainersTelemetry, getHostTelemetry } from '@roost/contracts/operations/telemetry'
import * as sharingEndpoints from '@roost/contracts/operations/usage-sharing'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { Telemetry } from './service.ts'
import type { UsageSharing } from './usage-sharing.ts'

export function telemetryRoutes(telemetry: Telemetry): Route[] {
  return [
    signedInRoute(getHostTelemetry, () => telemetry.host()),
    signedInRoute(getContainersTelemetry, ({ caller }) => telemetry.containers(caller)),
  ]
}

export function usageSharingRoutes(sharing: UsageSharing): Route[] {
  return [
    signedInRoute(sharingEndpoints.getUsageSharing, () => sharing.show()),
    signedInRoute(sharingEndpoints.putUsageSharing, ({ body, request }) => {
      request.note(body)
      return sharing.put(body.enabled)
    }),
    signedInRoute(sharingEndpoints.dismissUsageSharing, async () => {
      await sharing.dismiss()
      return { dismissed: true as const }
    }),
  ]
}
