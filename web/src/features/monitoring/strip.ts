import { type HealthCheck, type HealthStatus, healthStatuses } from '@roost/contracts/operations/monitoring'

type Check = Pick<HealthCheck, 'checked_at' | 'status'>
/** `at`: start in Unix ms. `worst` null: no check. */
export type StripPiece = { at: number; worst: HealthStatus | null }

const dayMs = 86_400_000

/** Divides the day before the newest check into equal pieces, oldest first. */
export function stripOf(checks: readonly Check[], pieces = 48): StripPiece[] {
  const end = Math.max(...checks.map(({ checked_at }) => Date.parse(checked_at)))
  const length = dayMs / pieces
  const strip = Array.from({ length: pieces }, (_, index): StripPiece => {
    return { at: end - dayMs + index * length, worst: null }
  })
  for (const { checked_at, status } of checks) {
    const place = pieces - 1 - Math.floor((end - Date.parse(checked_at)) / length)
    const piece = strip[place]
    if (piece && isWorse(status, piece.worst)) piece.worst = status
  }
  return strip
}

/** The checks with another status than the check before them, newest first. Includes the oldest check. */
export function changesOf<Each extends Check>(newestFirst: readonly Each[]): Each[] {
  return newestFirst.filter(({ status }, index) => newestFirst[index + 1]?.status !== status)
}

function isWorse(status: HealthStatus, than: HealthStatus | null): boolean {
  return than === null || healthStatuses.indexOf(status) < healthStatuses.indexOf(than)
}
