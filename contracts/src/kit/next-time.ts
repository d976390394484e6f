import type { Cron } from './cron.ts'
import type { Zone } from './zone.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** 29 February is skipped for eight years around most centuries. */
const maxSearchDays = 9 * 366

/**
 * Returns the first due time after `after` (milliseconds since 1970), or null when no day matches. A skipped
 * local time is due at the first instant after the gap, a repeated one at its first occurrence.
 */
export function nextTime(cron: Cron, zone: Zone, after: number): number | null {
  const local = zone.localAt(after)
  const firstDay = Math.floor(local / day) * day
  for (let days = 0; days <= maxSearchDays; days += 1) {
    const date = firstDay + days * day
    if (!matchesDay(cron, new Date(date))) continue
    for (const candidate of localTimes(cron, date, local)) {
      const time = zone.timeAt(candidate)
      if (time > after) return time
    }
  }
  return null
}

/** Returns the due times after `after` up to and including `until`, in order; at most `maxCount`. */
export function timesBetween(
  cron: Cron,
  zone: Zone,
  { after, until, maxCount }: { after: number; until: number; maxCount: number },
): number[] {
  const times: number[] = []
  let time = nextTime(cron, zone, after)
  while (time !== null && time <= until && times.length < maxCount) {
    times.push(time)
    time = nextTime(cron, zone, time)
  }
  return times
}

function matchesDay(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false
  const ofMonth = cron.daysOfMonth.has(date.getUTCDate())
  const ofWeek = cron.daysOfWeek.has(date.getUTCDay())
  return cron.restrictsDayOfMonth && cron.restrictsDayOfWeek ? ofMonth || ofWeek : ofMonth && ofWeek
}

/** Yields the local times of the day `date` that match, starting at the minute of `from`. */
function* localTimes(cron: Cron, date: number, from: number): Generator<number> {
  for (let hour = 0; hour < 24; hour += 1) {
    const start = date + hour * 60 * minute
    if (!cron.hours.has(hour) || start + 60 * minute <= from) continue
    for (let past = 0; past < 60; past += 1) {
      const time = start + past * minute
      if (cron.minutes.has(past) && time + minute > from) yield time
    }
  }
}
