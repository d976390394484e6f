import type { AgentHealthRow, HealthStatus } from '@roost/contracts/operations/monitoring'
import { formatDuration, formatPercent } from '../../lib/format.ts'

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

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/**
 * The uptime over the time that the checks cover, at most one day. `percent` null: no check of the running agent.
 * `firstCheck`: the oldest check of the last day, ISO 8601.
 */
export function uptimeWords(percent: number | null, firstCheck: string | undefined, now: number): string {
  if (percent === null || firstCheck === undefined) return 'Health checks of the last 24 hours.'
  const share = formatPercent(percent / 100)
  const coveredMs = Math.max(minuteMs, now - Date.parse(firstCheck))
  // The oldest check of a whole day is up to one interval younger than the day.
  if (coveredMs > dayMs - 60 * minuteMs) return `Uptime of the last 24 hours: ${share}.`
  const covered = formatDuration(Math.floor(coveredMs / minuteMs) * minuteMs)
  return `Uptime since the first check ${covered} ago: ${share}.`
}
