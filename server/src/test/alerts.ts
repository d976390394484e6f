import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { createAlerts } from '../foundation/alerts/index.ts'

/** Alerts with a sink that records what was committed. */
export function createTestAlerts() {
  const raised: PlatformAlert[] = []
  const cleared: { agentId: string | null; kind: AlertKind }[] = []
  const alerts = createAlerts()
  alerts.register({
    raise: async (tx, alert) => tx.onCommitted(() => void raised.push(alert)),
    clear: async (tx, agentId, kind) => tx.onCommitted(() => void cleared.push({ agentId, kind })),
  })
  return { alerts, raised, cleared }
}
