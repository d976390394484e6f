import { getAgentMetrics } from '@roost/contracts/operations/agent-metrics'
import { getMetrics } from '@roost/contracts/operations/metrics'
import { getContainersTelemetry, getHostTelemetry } from '@roost/contracts/operations/telemetry'
import * as sharingEndpoints from '@roost/contracts/operations/usage-sharing'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import { agentRoute, type Route, route, signedInRoute, streamAnswer } from '../../http/route.ts'
import type { ReadAgentMetrics } from './agent-metrics.ts'
import type { Metrics } from './service.ts'
import type { Telemetry } from './telemetry.ts'
import type { UsageSharing } from './usage-sharing.ts'

/** For the internal listener, where agents cannot reach it. */
export function metricsRoutes(metrics: Pick<Metrics, 'page'>): Route[] {
  return [
    route(getMetrics, async () => {
      const { contentType, text } = await metrics.page()
      return streamAnswer(contentType, singleChunk(text))
    }),
  ]
}

async function* singleChunk(text: string): AsyncIterable<string> {
  yield text
}

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

export function agentMetricsRoutes(
  read: ReadAgentMetrics,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  return [
    agentRoute(getAgentMetrics, async (call) =>
      read(await requireAgent(agentRecords, call.agent.id), call.request.signal),
    ),
  ]
}
