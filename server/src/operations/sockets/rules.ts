import type { ResyncReason } from '@roost/contracts/operations/sockets'

/** Events after the last one that a client has: more are not sent again. */
export const longestGap = 5_000

/** Fixed width, so that also as text it grows from event to event. */
const width = 16

export function eventId(position: number): string {
  return String(position).padStart(width, '0')
}

/** Null: not an id that this platform has given. */
export function positionOf(id: string): number | null {
  return /^\d{16}$/.test(id) ? Number(id) : null
}

export type Start = { after: number } | { resync: ResyncReason }

/** Where a client goes on that has seen the events up to `lastEventId`. */
export function startAfter(lastEventId: string, kept: { oldest: number | null; newest: number }): Start {
  const last = positionOf(lastEventId)
  // Beyond the newest: of another database, or of one that was restored to an earlier day.
  if (last === null || last > kept.newest) return { resync: 'invalid_last_event_id' }
  if (last === kept.newest) return { after: last }
  if (kept.oldest === null || last < kept.oldest - 1) return { resync: 'trimmed' }
  if (kept.newest - last > longestGap) return { resync: 'gap_too_large' }
  return { after: last }
}
