/**
 * The strict 5-field cron expression: minute hour day-of-month month day-of-week. Allows numbers, names
 * (`MON`, `JAN`), `*`, lists, ranges and steps; day-of-week 0 and 7 are Sunday. Macros and six fields are invalid.
 */
export type Cron = {
  minutes: ReadonlySet<number>
  hours: ReadonlySet<number>
  daysOfMonth: ReadonlySet<number>
  months: ReadonlySet<number>
  /** 0 is Sunday. */
  daysOfWeek: ReadonlySet<number>
  /** When both kinds of day are restricted, a day matches if either does. */
  restrictsDayOfMonth: boolean
  restrictsDayOfWeek: boolean
}

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** Longer than an expression that lists every value of every field. */
const maxExpressionLength = 1000
const maxMonthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

type Range = { from: number; to: number; names?: readonly string[]; firstName?: number }

const ranges = {
  minute: { from: 0, to: 59 },
  hour: { from: 0, to: 23 },
  'day-of-month': { from: 1, to: 31 },
  month: { from: 1, to: 12, names: monthNames, firstName: 1 },
  'day-of-week': { from: 0, to: 7, names: dayNames, firstName: 0 },
} as const satisfies Record<string, Range>
const fieldNames = Object.keys(ranges).join(' ')

/** Returns null for an invalid expression or one that names only impossible days (30 February). */
export function parseCron(expression: string): Cron | null {
  const read = readCron(expression)
  return typeof read === 'string' ? null : read
}

/** Like `parseCron`, but returns the rest of a sentence about the error instead of null. */
export function readCron(expression: string): Cron | string {
  if (expression.length > maxExpressionLength) return `is longer than ${maxExpressionLength} characters`
  const fields = expression.trim().split(/\s+/)
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields
  if (fields.length !== 5 || !minute || !hour || !dayOfMonth || !month || !dayOfWeek) {
    return `is not a cron expression of five fields (${fieldNames})`
  }
  const minutes = parseField(minute, ranges.minute)
  if (!minutes) return refusalOf('minute', minute)
  const hours = parseField(hour, ranges.hour)
  if (!hours) return refusalOf('hour', hour)
  const daysOfMonth = parseField(dayOfMonth, ranges['day-of-month'])
  if (!daysOfMonth) return refusalOf('day-of-month', dayOfMonth)
  const months = parseField(month, ranges.month)
  if (!months) return refusalOf('month', month)
  const weekdays = parseField(dayOfWeek, ranges['day-of-week'])
  if (!weekdays) return refusalOf('day-of-week', dayOfWeek)
  const cron = {
    minutes,
    hours,
    daysOfMonth,
    months,
    daysOfWeek: new Set([...weekdays].map((day) => day % 7)),
    restrictsDayOfMonth: dayOfMonth !== '*',
    restrictsDayOfWeek: dayOfWeek !== '*',
  }
  return comesDue(cron) ? cron : 'never comes due: no year has a day that it names'
}

function refusalOf(name: keyof typeof ranges, text: string): string {
  const { from, to, ...range } = ranges[name]
  const names = 'names' in range ? ` or ${range.names[0]}-${range.names.at(-1)}` : ''
  const field = text.slice(0, 40)
  if (/^\d+$/.test(text))
    return `is not a valid cron expression: its ${name} is ${from} to ${to}${names}, not ${field}`
  return `is not a valid cron expression: its ${name} "${field}" is not *, or a list of values ${from}-${to}${names}, ranges and steps`
}

function comesDue({ months, daysOfMonth, restrictsDayOfMonth, restrictsDayOfWeek }: Cron): boolean {
  if (restrictsDayOfMonth && restrictsDayOfWeek) return true
  const first = Math.min(...daysOfMonth)
  return maxMonthDays.some((days, index) => months.has(index + 1) && first <= days)
}

function parseField(text: string, range: Range): Set<number> | null {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const found = parseItem(item, range)
    if (!found) return null
    for (const value of found) values.add(value)
  }
  return values
}

/** Parses `*`, `5` or `1-5`, each with an optional `/step`; `5/2` extends to the end of the range. */
function parseItem(item: string, range: Range): number[] | null {
  const [base, stepText, ...more] = item.split('/')
  if (base === undefined || more.length > 0) return null
  const step = stepText === undefined ? 1 : parseNumber(stepText)
  if (step === null || step < 1) return null
  const bounds = parseBounds(base, range, stepText !== undefined)
  if (!bounds) return null
  const values: number[] = []
  for (let value = bounds.from; value <= bounds.to; value += step) values.push(value)
  return values
}

function parseBounds(base: string, range: Range, stepped: boolean): { from: number; to: number } | null {
  if (base === '*') return { from: range.from, to: range.to }
  const [first, last, ...more] = base.split('-')
  if (first === undefined || more.length > 0) return null
  const from = parseValue(first, range)
  if (from === null) return null
  if (last === undefined) return { from, to: stepped ? range.to : from }
  const to = parseValue(last, range)
  return to === null || to < from ? null : { from, to }
}

function parseValue(text: string, range: Range): number | null {
  const named = range.names?.indexOf(text.toUpperCase()) ?? -1
  if (named >= 0) return named + (range.firstName ?? 0)
  const value = parseNumber(text)
  return value !== null && value >= range.from && value <= range.to ? value : null
}

function parseNumber(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null
}

/** Abbreviations that the runtime accepts in addition to IANA names; most are ambiguous. */
const runtimeAbbreviations = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(
    ' ',
  ),
)

/** Accepts IANA names and aliases. Refuses offsets such as `+02:00` and other abbreviations. */
export function isTimezone(name: string): boolean {
  if (runtimeAbbreviations.has(name.toUpperCase()) || /^systemv\//i.test(name)) return false
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
