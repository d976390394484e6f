import { isTimezone, parseCron } from '../../kit/cron.ts'
import { nextTime, timesBetween } from '../../kit/next-time.ts'
import { openZone, type Zone } from '../../kit/zone.ts'
import type { Schedule } from './store.ts'

export type Timed = Pick<Schedule, 'cron_expression' | 'timezone'>

/** When schedules are due; whether they are enabled is not looked at. */
export type ScheduleTimes = {
  /** Strictly after `after`; null when it cannot be registered. */
  next(schedule: Timed, after: Date): Date | null
  /** The next `count` of them. */
  upcoming(schedule: Timed, after: Date, count: number): Date[]
}

/** Most schedules are due at few times of the day. */
const rememberedCrons = 100

/**
 * Remembers the zones it has opened: to open one, or to see that it is one, costs more than asking it; and some of the
 * expressions that it has read.
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
  const crons = new Map<string, ReturnType<typeof parseCron>>()
  const cronOf = (expression: string) => {
    const known = crons.get(expression)
    if (known !== undefined) return known
    const cron = parseCron(expression)
    if (crons.size >= rememberedCrons) crons.clear()
    crons.set(expression, cron)
    return cron
  }
  const open = ({ cron_expression, timezone }: Timed) => {
    const cron = cronOf(cron_expression)
    const zone = cron && zoneOf(timezone)
    return cron && zone ? { cron, zone } : null
  }
  return {
    next(schedule, after) {
      const opened = open(schedule)
      const time = opened && nextTime(opened.cron, opened.zone, after.getTime())
      return time === null ? null : new Date(time)
    },
    upcoming(schedule, after, count) {
      const opened = open(schedule)
      if (!opened) return []
      const span = { after: after.getTime(), until: Number.POSITIVE_INFINITY, most: count }
      return timesBetween(opened.cron, opened.zone, span).map((time) => new Date(time))
    },
  }
}

/** Why the scheduler cannot register it, in the words of listings; null when it can. */
export function registrationError({ cron_expression, timezone }: Timed): string | null {
  if (!parseCron(cron_expression)) return 'Invalid cron expression'
  return isTimezone(timezone) ? null : 'Invalid timezone'
}
