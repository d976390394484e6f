import { getContainersTelemetry, getHostTelemetry } from '@roost/contracts/operations/telemetry'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { Telemetry } from './service.ts'

export function telemetryRoutes(telemetry: Telemetry): Route[] {
  return [
    signedInRoute(getHostTelemetry, () => telemetry.host()),
    signedInRoute(getContainersTelemetry, ({ caller }) => telemetry.containers(caller)),
  ]
}
