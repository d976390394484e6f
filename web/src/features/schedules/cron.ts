import { Cron } from 'croner'
import cronstrue from 'cronstrue'

/** Describes an expression in words; null for anything but a five-field expression. */
export function cronWords(expression: string): string | null {
  if (!isFiveFields(expression)) return null
  try {
    return cronstrue.toString(expression.trim(), { use24HourTimeFormat: true })
  } catch {
    return null
  }
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
  if (!isFiveFields(expression)) return []
  try {
    return new Cron(expression.trim(), { timezone, mode: '5-part', paused: true }).nextRuns(count, after)
  } catch {
    return []
  }
}

/** Both libraries accept more than the platform: macros, seconds, `L`, `W` and `#`. */
function isFiveFields(expression: string): boolean {
  const fields = expression.trim().split(/\s+/)
  return fields.length === 5 && fields.every((field) => field.split(/[,/-]/).every(isPlain))
}

function isPlain(part: string): boolean {
  return part === '*' || /^\d{1,4}$/.test(part) || names.has(part.toUpperCase())
}

const names = new Set(
  'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT'.split(' '),
)
