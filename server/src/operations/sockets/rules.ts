import type { ResyncReason } from '@roost/contracts/operations/sockets'

/** Missed events that are replayed at most. */
export const maxGap = 5_000

/** Fixed width, so that ids also sort as text. */
const idWidth = 16

export function eventId(position: number): string {
  return String(position).padStart(idWidth, '0')
}

/** Null for an invalid id. */
export function positionOf(id: string): number | null {
  return /^\d{16}$/.test(id) ? Number(id) : null
}

export type Start = { after: number } | { resync: ResyncReason }

/** Decides where a client continues that has the events up to `lastEventId`. */
export function startAfter(lastEventId: string, stored: { oldest: number | null; newest: number }): Start {
  const last = positionOf(lastEventId)
  // Beyond the newest: from another database, or from before a restore.
  if (last === null || last > stored.newest) return { resync: 'invalid_last_event_id' }
  if (last === stored.newest) return { after: last }
  if (stored.oldest === null || last < stored.oldest - 1) return { resync: 'trimmed' }
  if (stored.newest - last > maxGap) return { resync: 'gap_too_large' }
  return { after: last }
}
