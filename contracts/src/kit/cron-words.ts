import type { Cron } from './cron.ts'

const dayTitles = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const monthTitles = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** More times of day than this are described by their pattern. */
const maxListedTimes = 6
/** More windows of consecutive hours than this are described as a list of hours. */
const maxHourWindows = 3

/**
 * Describes when an expression fires: `At 09:00, on days 1 to 7 of the month or on Mondays`. Reads only the parsed
 * fields, so equal words mean equal due times. The language is English; times of day have 24 hours.
 */
export function cronWords(cron: Cron): string {
  return [timeWords(cron), dayWords(cron), monthWords(sorted(cron.months))]
    .filter((part) => part !== null)
    .join(', ')
}

function timeWords(cron: Cron): string {
  const minutes = sorted(cron.minutes)
  const hours = sorted(cron.hours)
  const isAllHours = hours.length === 24
  const [minute = 0] = minutes
  const [hour = 0] = hours
  if (isListed(cron.minutes, cron.hours)) {
    return `At ${list(hours.flatMap((each) => minutes.map((past) => timeOfDay(each, past))))}`
  }
  if (minutes.length === 1) {
    if (isAllHours) return minute === 0 ? 'Every hour' : `At minute ${minute} of every hour`
    if (isRun(hours)) return `Every hour from ${timeOfDay(hour, minute)} to ${timeOfDay(last(hours), minute)}`
    const step = evenStep(hours, 24)
    if (step !== null) {
      const start = hour === 0 && minute === 0 ? '' : ` starting at ${timeOfDay(hour, minute)}`
      return `Every ${step} hours${start}`
    }
    return `At minute ${minute} of ${hourList(hours)}`
  }
  const step = minutes.length > 2 || minute === 0 ? evenStep(minutes, 60) : null
  if (step !== null) {
    const every = step === 1 ? 'Every minute' : `Every ${step} minutes`
    const start = minute === 0 ? '' : ` starting at minute ${minute}`
    if (isAllHours) return `${every}${start}`
    return `${every}${start}${start && ','} ${windows(hours) ?? `in ${hourList(hours)}`}`
  }
  if (hours.length === 1 && isRun(minutes)) {
    return `Every minute from ${timeOfDay(hour, minute)} to ${timeOfDay(hour, last(minutes))}`
  }
  const past = `At minutes ${ranges(minutes, String)}`
  if (isAllHours) return `${past} of every hour`
  if (hours.length === 1) return `${past} past ${timeOfDay(hour, 0)}`
  const found = windows(hours)
  return found === null ? `${past} of ${hourList(hours)}` : `${past} of every hour ${found}`
}

/** Describes the days as they fire: with both kinds of day restricted, a day matches if either does. */
function dayWords(cron: Cron): string | null {
  const ofMonth = cron.daysOfMonth.size === 31 ? null : dayOfMonthWords(sorted(cron.daysOfMonth))
  const ofWeek = cron.daysOfWeek.size === 7 ? null : dayOfWeekWords(cron.daysOfWeek)
  const isEither = cron.restrictsDayOfMonth && cron.restrictsDayOfWeek
  if (isEither && ofMonth !== null && ofWeek !== null) return `${ofMonth} or ${ofWeek}`
  if (isEither || (ofMonth === null && ofWeek === null)) return repeatsThroughDay(cron) ? null : 'every day'
  return ofMonth ?? ofWeek
}

/** True when the time words already cover the whole day: "every minute", "every 2 hours". */
function repeatsThroughDay({ minutes, hours }: Cron): boolean {
  return evenStep(sorted(hours), 24) !== null && !isListed(minutes, hours)
}

function isListed(minutes: ReadonlySet<number>, hours: ReadonlySet<number>): boolean {
  return hours.size < 24 && minutes.size * hours.size <= maxListedTimes
}

function dayOfMonthWords(days: number[]): string {
  return `on ${days.length === 1 ? 'day' : 'days'} ${ranges(days, String)} of the month`
}

/** A week starts on Monday here, so that a weekend is two consecutive days. */
function dayOfWeekWords(days: ReadonlySet<number>): string {
  const fromMonday = sorted(new Set([...days].map((day) => (day + 6) % 7)))
  const title = (day: number) => dayTitles[(day + 1) % 7] ?? ''
  if (fromMonday.length > 2 && isRun(fromMonday)) {
    return `${title(fromMonday[0] ?? 0)} to ${title(last(fromMonday))}`
  }
  return `on ${list(fromMonday.map((day) => `${title(day)}s`))}`
}

function monthWords(months: number[]): string | null {
  if (months.length === monthTitles.length) return null
  return `in ${ranges(months, (month) => monthTitles[month - 1] ?? '')}`
}

/** `from 09:00 to 17:59`; null for too many separate windows. */
function windows(hours: number[]): string | null {
  const found = runs(hours)
  if (found.length > maxHourWindows) return null
  return list(found.map((run) => `from ${timeOfDay(run[0] ?? 0, 0)} to ${timeOfDay(last(run), 59)}`))
}

function hourList(hours: number[]): string {
  return `hours ${ranges(hours, String)}`
}

/** The step of values that repeat evenly through the whole cycle; null for other values. */
function evenStep(values: number[], cycle: number): number | null {
  const step = cycle / values.length
  const [first = 0] = values
  const isEven = values.every((value, index) => value === first + index * step)
  return values.length > 1 && isEven ? step : null
}

/** Lists values; three or more consecutive ones become `1 to 7`. */
function ranges(values: number[], title: (value: number) => string): string {
  return list(
    runs(values).flatMap((run) =>
      run.length > 2 ? [`${title(run[0] ?? 0)} to ${title(last(run))}`] : run.map(title),
    ),
  )
}

function runs(values: number[]): number[][] {
  const found: number[][] = []
  for (const value of values) {
    const run = found.at(-1)
    if (run && last(run) === value - 1) run.push(value)
    else found.push([value])
  }
  return found
}

function isRun(values: number[]): boolean {
  return runs(values).length === 1
}

function list(items: string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

function timeOfDay(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

function last(values: number[]): number {
  return values.at(-1) ?? 0
}

function sorted(values: ReadonlySet<number>): number[] {
  return [...values].sort((one, other) => one - other)
}
