import { type Cron, isTimezone, parseCron } from '@roost/contracts/kit/cron'
import { nextTime, timesBetween } from '@roost/contracts/kit/next-time'
import { openZone, type Zone } from '@roost/contracts/kit/zone'

export type Timed = { cron_expression: string; timezone: string }

/** When schedules are due; whether they are enabled is not looked at. */
export type ScheduleTimes = {
  /** Strictly after `after`; null when it cannot be registered. */
  next(schedule: Timed, after: Date): Date | null
  /** The next `count` of them. */
  upcoming(schedule: Timed, after: Date, count: number): Date[]
}

/** Most schedules are due at few times of the day. */
const rememberedTimes = 200

/** From `from` on, and before `next`, the next due time is `next`. Milliseconds since 1970. */
type Span = { from: number; next: number }
/** Who looks for what is due asks for the time that has come and for the one after it. */
const rememberedSpans = 2

type Opened = { cron: Cron; zone: Zone; spans: readonly Span[] }

/**
 * Remembers the zones it has opened: to open one, or to see that it is one, costs more than asking it; and of some
 * expressions what they say and when they are due next: what is due at nine comes by the hundred.
 */
export function createScheduleTimes(): ScheduleTimes {
  const zones = new Map<string, Zone>()
  const zoneOf = (name: string) => {
    const known = zones.get(name)
    if (known || !isTimezone(name)) return known ?? null
    const zone = openZone(name)
    zones.set(name, zone)
    return zone
  }
  const known = new Map<string, Opened | null>()
  const open = ({ cron_expression, timezone }: Timed): Opened | null => {
    const key = `${timezone} ${cron_expression}`
    const found = known.get(key)
    if (found !== undefined) return found
    const cron = parseCron(cron_expression)
    const zone = cron && zoneOf(timezone)
    const opened = cron && zone ? { cron, zone, spans: [] } : null
    if (known.size >= rememberedTimes) known.clear()
    known.set(key, opened)
    return opened
  }

  function nextOf(opened: Opened, after: number): number | null {
    const { cron, zone, spans } = opened
    const span = spans.find(({ from, next }) => from <= after && after < next)
    if (span) return span.next
    const next = nextTime(cron, zone, after)
    if (next !== null) opened.spans = [{ from: after, next }, ...spans].slice(0, rememberedSpans)
    return next
  }

  return {
    next(schedule, after) {
      const opened = open(schedule)
      const time = opened && nextOf(opened, after.getTime())
      return time === null ? null : new Date(time)
    },
    upcoming(schedule, after, count) {
      const opened = open(schedule)
      if (!opened) return []
      const span = { after: after.getTime(), until: Number.POSITIVE_INFINITY, maxCount: count }
      return timesBetween(opened.cron, opened.zone, span).map((time) => new Date(time))
    },
  }
}

/** Why the scheduler cannot register it, in the words of listings; null when it can. */
export function registrationError({ cron_expression, timezone }: Timed): string | null {
  if (!parseCron(cron_expression)) return 'Invalid cron expression'
  return isTimezone(timezone) ? null : 'Invalid timezone'
}
