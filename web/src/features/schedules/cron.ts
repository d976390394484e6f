import { Cron } from 'croner'
import cronstrue from 'cronstrue'

/** What an expression says, in words; null when it is no five-field one. */
export function cronWords(expression: string): string | null {
  if (!isFiveFields(expression)) return null
  try {
    return cronstrue.toString(expression.trim(), { use24HourTimeFormat: true })
  } catch {
    return null
  }
}

/**
 * When an expression that is not saved yet would be due next. None where the zone or the expression is unknown.
 * Of a saved schedule the platform itself tells.
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

/** Both libraries take more than the platform does: macros, seconds, `L`, `W` and `#`. */
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
