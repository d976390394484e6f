import { type Cron, isTimezone, parseCron } from '@roost/contracts/kit/cron'
import { nextTime, timesBetween } from '@roost/contracts/kit/next-time'
import { openZone, type Zone } from '@roost/contracts/kit/zone'

export type Timed = { cron_expression: string; timezone: string }

/** The due times of schedules, whether or not they are enabled. */
export type ScheduleTimes = {
  /** The first due time after `after`, exclusive; null for an invalid schedule. */
  next(schedule: Timed, after: Date): Date | null
  /** The next `count` due times. */
  upcoming(schedule: Timed, after: Date, count: number): Date[]
}

/** Enough, because most schedules share few expressions. */
const maxCached = 200

/** From `from` until `next`, the next due time is `next`. Milliseconds since 1970. */
type Span = { from: number; next: number }
/** The scheduler asks for the due time and for the one after it. */
const spansPerExpression = 2

type Opened = { cron: Cron; zone: Zone; spans: readonly Span[] }

/**
 * Caches opened zones, because opening one costs more than using it. Also caches parsed expressions with their next
 * due times, because hundreds of schedules are due at the same time.
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
    if (known.size >= maxCached) known.clear()
    known.set(key, opened)
    return opened
  }

  function nextOf(opened: Opened, after: number): number | null {
    const { cron, zone, spans } = opened
    const span = spans.find(({ from, next }) => from <= after && after < next)
    if (span) return span.next
    const next = nextTime(cron, zone, after)
    if (next !== null) opened.spans = [{ from: after, next }, ...spans].slice(0, spansPerExpression)
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

/** The text in listings for an invalid schedule; null for a valid one. */
export function registrationError({ cron_expression, timezone }: Timed): string | null {
  if (!parseCron(cron_expression)) return 'Invalid cron expression'
  return isTimezone(timezone) ? null : 'Invalid timezone'
}
