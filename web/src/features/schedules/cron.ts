import { isTimezone, readCron } from '@roost/contracts/kit/cron'
import { cronWords as describe } from '@roost/contracts/kit/cron-words'
import { timesBetween } from '@roost/contracts/kit/next-time'
import { openZone } from '@roost/contracts/kit/zone'

/** Describes an expression in words; null for an expression that the platform refuses. */
export function cronWords(expression: string): string | null {
  const cron = readCron(expression)
  return typeof cron === 'string' ? null : describe(cron)
}

/** Says why the platform refuses an expression; null for a valid one. */
export function cronError(expression: string): string | null {
  if (expression.trim() === '') return 'Enter a cron expression with five fields.'
  const cron = readCron(expression)
  return typeof cron === 'string' ? `“${expression.trim().slice(0, 100)}” ${cron}.` : null
}

/**
 * The next due times of an unsaved expression; none when the expression or the time zone is invalid. For a
 * saved schedule the platform returns them.
 */
export function draftTimes(
  { expression, timezone }: { expression: string; timezone: string },
  after: Date,
  count: number,
): Date[] {
  const cron = readCron(expression)
  if (typeof cron === 'string' || !isTimezone(timezone)) return []
  const span = { after: after.getTime(), until: Number.POSITIVE_INFINITY, maxCount: count }
  return timesBetween(cron, openZone(timezone), span).map((time) => new Date(time))
}
