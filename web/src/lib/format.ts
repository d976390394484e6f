/** Formats numbers and times. All functions are pure: the current time, locale and zone are parameters. */

export type Locale = { language?: string; timeZone?: string }

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** `just now`, `3 min ago`, `in 2 h`, `5 days ago`; the date beyond four weeks. Takes Unix milliseconds. */
export function formatRelativeTime(at: number, now: number, locale: Locale = {}): string {
  const distance = Math.abs(now - at)
  if (distance < 10 * second) return 'just now'
  if (distance >= 28 * day) return formatDate(at, now, locale)
  const words = relativeAmount(distance)
  return at > now ? `in ${words}` : `${words} ago`
}

function relativeAmount(distance: number): string {
  if (distance < minute) return `${Math.floor(distance / second)} s`
  if (distance < hour) return `${Math.floor(distance / minute)} min`
  if (distance < day) return `${Math.floor(distance / hour)} h`
  return plural(Math.floor(distance / day), 'day')
}

/** How long the result of `formatRelativeTime` stays correct, in milliseconds. */
export function relativeTimeStaysFor(at: number, now: number): number {
  const distance = Math.abs(now - at)
  if (distance < minute) return 10 * second
  if (distance < hour) return 30 * second
  return distance < day ? 10 * minute : hour
}

/** `12 Mar`, with the year when it is not the current one. */
export function formatDate(at: number, now: number, locale: Locale = {}): string {
  const year = dateFormat({ year: 'numeric' }, { ...locale, language: 'en' })
  const isThisYear = year.format(at) === year.format(now)
  const day = { day: 'numeric', month: 'short' } as const
  return dateFormat(isThisYear ? day : { ...day, year: 'numeric' }, locale).format(at)
}

/** Date, time to the second and zone, e.g. `12 Mar 2026, 14:05:09 CET`. */
export function formatExactTime(at: number, locale: Locale = {}): string {
  return dateFormat(
    {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    },
    locale,
  ).format(at)
}

/** Hours and minutes of the day as the reader writes them: `06:00`, `6:00 AM`. */
export function formatClock(at: number, locale: Locale = {}): string {
  return dateFormat({ timeStyle: 'short' }, locale).format(at)
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** Kept, because a long table formats hundreds of times and each new format takes about a millisecond. */
function dateFormat(options: Intl.DateTimeFormatOptions, { language, timeZone }: Locale) {
  const key = JSON.stringify([language, timeZone, options])
  const kept = dateFormats.get(key)
  if (kept) return kept
  const format = new Intl.DateTimeFormat(language, { ...options, timeZone })
  dateFormats.set(key, format)
  return format
}

/** Two units at most: `840 ms`, `3.2 s`, `42 s`, `4m 10s`, `2h 5m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`
  // Round before choosing the unit: 59.96 s must not read as 60 s.
  if (Math.round(ms) < second) return `${Math.round(ms)} ms`
  if (Math.round(ms / 100) < 100) return `${trimZero((ms / second).toFixed(1))} s`
  const seconds = Math.round(ms / second)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return pair(seconds, 60, 'm', 's')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 24 * 60) return pair(minutes, 60, 'h', 'm')
  return pair(Math.floor(minutes / 60), 24, 'd', 'h')
}

function pair(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size
  const whole = `${Math.floor(amount / size)}${large}`
  return rest === 0 ? whole : `${whole} ${rest}${small}`
}

/** Dollars: two significant digits below ten, cents below a thousand, whole dollars above. */
export function formatCost(usd: number): string {
  if (usd < 0) return `−${formatCost(-usd)}`
  if (usd === 0) return '$0.00'
  if (usd < 0.000095) return '<$0.0001'
  const rounded = Number(usd.toPrecision(2))
  if (rounded < 1) return `$${padCents(trimExponent(rounded))}`
  if (rounded < 10) return `$${rounded.toFixed(2)}`
  if (usd < 999.995) return `$${usd.toFixed(2)}`
  return `$${Math.round(usd).toLocaleString('en-US')}`
}

/** A cost with "≈" before it where a part is an estimate. */
export function costText(usd: number, isEstimated: boolean): string {
  return isEstimated ? `≈${formatCost(usd)}` : formatCost(usd)
}

/** Dollars with micro-dollar precision, e.g. `$0.004213`. */
export function formatExactCost(usd: number): string {
  const [whole = '0', fraction = ''] = Math.abs(usd).toFixed(6).split('.')
  const decimals = fraction.replace(/0+$/, '').padEnd(2, '0')
  return `${usd < 0 ? '−' : ''}$${Number(whole).toLocaleString('en-US')}.${decimals}`
}

/** Binary units with one digit below ten: `512 B`, `1.5 KB`, `24 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
  let [amount, unit] = [bytes, 0]
  while (unit < units.length - 1 && Math.round(amount) >= 1024) {
    amount /= 1024
    unit++
  }
  const digits = unit > 0 && amount < 9.95 ? trimZero(amount.toFixed(1)) : String(Math.round(amount))
  return `${digits} ${units[unit]}`
}

/** Thousands grouped: `12,408`. */
export function formatNumber(value: number, { language }: Locale = {}): string {
  // Browsers keep the format of the default language.
  return value.toLocaleString(language)
}

/** Short forms for tight places: `940`, `12.4k`, `3.1M`. */
export function formatCompact(value: number): string {
  const steps = [
    { size: 1e9, mark: 'B' },
    { size: 1e6, mark: 'M' },
    { size: 1e3, mark: 'k' },
  ]
  const step = steps.find(({ size }) => Math.abs(value) >= size * 0.9995)
  if (!step) return trimZero(value.toFixed(1))
  const amount = value / step.size
  return `${trimZero(amount.toFixed(Math.abs(amount) < 99.95 ? 1 : 0))}${step.mark}`
}

/** Takes a share between 0 and 1: 0.934 is `93%`. Only exact 0 and 1 give 0% and 100%. */
export function formatPercent(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 1) return '<1%'
  if (percent > 99 && percent < 100) return percent < 99.5 ? '99%' : '>99%'
  return `${Math.round(percent)}%`
}

/** `1 run`, `3 runs`. Pass the plural of irregular words. */
export function plural(count: number, word: string, words = `${word}s`): string {
  return `${formatNumber(count, { language: 'en-US' })} ${count === 1 ? word : words}`
}

function trimZero(digits: string): string {
  return digits.replace(/\.0$/, '')
}

/** Decimal digits of a number that JavaScript would print as 1e-7. */
function trimExponent(value: number): string {
  return value.toFixed(6).replace(/0+$/, '')
}

function padCents(digits: string): string {
  const [whole = '0', fraction = ''] = digits.split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
