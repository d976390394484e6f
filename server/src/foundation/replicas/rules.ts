import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { ReplicaState } from '@roost/contracts/operations/replicas'

export const heartbeatSeconds = 5
/** Longer than a lease lasts, so the leases of a silent replica have expired. */
export const silentAfterSeconds = 15
/** Long enough for an operator to see which replica is missing. */
export const forgottenAfterSeconds = 600
/** Longer than a rolling upgrade takes. */
export const versionsMayDifferSeconds = 3600

type Seen = { version: string; started_at: string; seen_at: string }

export function stateOf({ seen_at }: Pick<Seen, 'seen_at'>, now: Date): ReplicaState {
  return now.getTime() - Date.parse(seen_at) < silentAfterSeconds * 1000 ? 'live' : 'silent'
}

/** The versions of the live replicas. */
export function versionsOf(replicas: readonly Seen[], now: Date): string[] {
  const live = replicas.filter((replica) => stateOf(replica, now) === 'live')
  return [...new Set(live.map(({ version }) => version))].sort()
}

/** Returns the alert about live replicas whose versions have differed for too long; null if there is none. */
export function versionsAlert(replicas: readonly Seen[], now: Date): PlatformAlert | null {
  const versions = versionsOf(replicas, now)
  if (versions.length < 2) return null
  const firstStartOf = (version: string) =>
    Math.min(
      ...replicas.filter((each) => each.version === version).map((each) => Date.parse(each.started_at)),
    )
  const since = Math.max(...versions.map(firstStartOf))
  if (now.getTime() - since < versionsMayDifferSeconds * 1000) return null
  return {
    agentId: null,
    kind: 'versions_differ',
    title: `Replicas of different versions have been running for more than an hour: ${versions.join(', ')}`,
    question:
      'Finish the rolling upgrade: restart the replicas of the older version with the newer one. `roost replicas` lists them.',
    priority: 'high',
    context: { versions, since: new Date(since).toISOString() },
  }
}
