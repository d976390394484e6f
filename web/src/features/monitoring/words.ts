import type { AgentHealthRow, HealthStatus } from '@roost/contracts/operations/monitoring'
import { formatDuration } from '../../lib/format.ts'

type Tone = 'neutral' | 'success' | 'warning' | 'danger'

export const healthWords: Record<HealthStatus, { label: string; tone: Tone }> = {
  critical: { label: 'Critical', tone: 'danger' },
  unhealthy: { label: 'Unhealthy', tone: 'danger' },
  degraded: { label: 'Degraded', tone: 'warning' },
  unknown: { label: 'Unknown', tone: 'neutral' },
  healthy: { label: 'Healthy', tone: 'success' },
}

/** The time of the last heartbeat, or the status of a stopped container. */
export function beatWords({
  container_status,
  heartbeat_state,
  last_heartbeat_age_seconds: age,
}: Pick<AgentHealthRow, 'container_status' | 'heartbeat_state' | 'last_heartbeat_age_seconds'>): string {
  if (container_status !== 'running') return container_status
  if (heartbeat_state === 'unsupported' || age === null) return 'no heartbeat'
  const ago = `${formatDuration(age * 1000)} ago`
  return heartbeat_state === 'stale' ? `stale, last ${ago}` : ago
}
