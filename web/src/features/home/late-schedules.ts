import { isTimezone, readCron } from '@roost/contracts/kit/cron'
import { nextTime } from '@roost/contracts/kit/next-time'
import { openZone, type Zone } from '@roost/contracts/kit/zone'
import type { Schedule } from '@roost/contracts/triggers/schedules'

type Planned = Pick<
  Schedule,
  'enabled' | 'cron_expression' | 'timezone' | 'last_fire' | 'updated_at' | 'registration_error'
>

/**
 * `invalid`: it never fires. `overdue`: a due time has passed without an outcome. `missed`: the newest due time was
 * not fired.
 */
export type Lateness =
  | { problem: 'invalid'; error: string }
  | { problem: 'overdue'; dueAt: number }
  | { problem: 'missed'; dueAt: number; reason: string | null }
export type LateSchedule<Each extends Planned = Schedule> = { schedule: Each; late: Lateness }

const dayMs = 86_400_000
/** A fire takes a moment, and the clocks of the browser and the platform differ. */
const graceMs = 5 * 60_000
const order = ['invalid', 'overdue', 'missed'] as const

/** The enabled schedules with a problem in the last day, the most severe first. */
export function lateSchedules<Each extends Planned>(
  schedules: readonly Each[],
  now: number,
): LateSchedule<Each>[] {
  // Opening a zone is slow, and most schedules share one.
  const zones = new Map<string, Zone>()
  const zoneOf = (name: string) => {
    const zone = zones.get(name) ?? openZone(name)
    zones.set(name, zone)
    return zone
  }
  return schedules
    .flatMap((schedule) => {
      const late = latenessOf(schedule, now, zoneOf)
      return late ? [{ schedule, late }] : []
    })
    .sort((one, other) => order.indexOf(one.late.problem) - order.indexOf(other.late.problem))
}

function latenessOf(schedule: Planned, now: number, zoneOf: (name: string) => Zone): Lateness | null {
  const { enabled, registration_error: error, last_fire: fire } = schedule
  if (!enabled) return null
  if (error !== null) return { problem: 'invalid', error }
  const dueAt = firstDue(schedule, zoneOf)
  if (dueAt !== null && dueAt < now - graceMs) return { problem: 'overdue', dueAt }
  if (fire?.outcome !== 'missed' || Date.parse(fire.due_at) < now - dayMs) return null
  return { problem: 'missed', dueAt: Date.parse(fire.due_at), reason: fire.reason }
}

/** The first due time without an outcome. A change of the schedule may have moved its times, so it counts from there. */
function firstDue(schedule: Planned, zoneOf: (name: string) => Zone): number | null {
  const { cron_expression, timezone, last_fire, updated_at } = schedule
  const cron = readCron(cron_expression)
  if (typeof cron === 'string' || !isTimezone(timezone)) return null
  const since = Math.max(Date.parse(updated_at), last_fire ? Date.parse(last_fire.due_at) : 0)
  return nextTime(cron, zoneOf(timezone), since)
}
