import type { BlockOf } from '@roost/contracts/conversations/canvas-blocks'
import { formatNumber, type Locale } from '../../lib/format.ts'
import type { ChartProps } from '../../ui/charts/chart-data.ts'

export type ChartPayload = BlockOf<'chart'>['payload']
export type Drawn = Pick<ChartProps, 'data' | 'series' | 'format' | 'heading'>

/** One row per time or group. Sorted if all labels are times, else in the original order. */
export function chartOf({ type, series }: ChartPayload, locale: Locale = {}): Drawn {
  const units = new Set(series.map(({ unit }) => unit || null))
  const [unit = null] = units
  const format = formatOf(units.size === 1 ? unit : null, locale)
  if (type === 'pie' || type === 'donut') return { ...slicesOf(series), format }
  const moments = momentsOf(series)
  const words = wordsFor(moments, locale)
  const byMoment = series.map(({ points }) => new Map(points.map(({ ts, value }) => [ts, value])))
  return {
    format,
    heading: areTimes(moments) ? 'Time' : 'Group',
    series: series.map(({ label, unit: own }, index) => ({
      id: `s${index}`,
      label: units.size > 1 && own ? `${label} (${own})` : label,
    })),
    data: moments.map((ts, row) => ({
      label: words[row] ?? ts,
      values: Object.fromEntries(byMoment.map((values, index) => [`s${index}`, values.get(ts) ?? null])),
    })),
  }
}

/** Shares of a whole: the points of a single series, else the sum of each series. */
function slicesOf(series: ChartPayload['series']): Pick<Drawn, 'data' | 'series' | 'heading'> {
  const [first] = series
  const slices =
    first && series.length === 1
      ? first.points.map(({ ts, value }) => ({ label: ts, value }))
      : series.map(({ label, points }) => ({
          label,
          value: points.reduce((sum, { value }) => sum + value, 0),
        }))
  return {
    heading: 'Whole',
    series: slices.map(({ label }, index) => ({ id: `s${index}`, label })),
    data: [
      {
        label: first && series.length === 1 ? first.label : 'Sum',
        values: Object.fromEntries(slices.map(({ value }, index) => [`s${index}`, value])),
      },
    ],
  }
}

function momentsOf(series: ChartPayload['series']): string[] {
  const all = [...new Set(series.flatMap(({ points }) => points.map(({ ts }) => ts)))]
  return areTimes(all) ? all.toSorted((a, b) => Date.parse(a) - Date.parse(b)) : all
}

const timePattern = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$/

/** True if every label is an ISO 8601 time. */
function areTimes(moments: readonly string[]): boolean {
  return moments.length > 0 && moments.every((ts) => timePattern.test(ts) && !Number.isNaN(Date.parse(ts)))
}

/** Short labels for times. Keeps the original text of other labels, and of times that would look alike. */
function wordsFor(moments: readonly string[], { language, timeZone }: Locale): string[] {
  if (!areTimes(moments)) return [...moments]
  const areDays = moments.every((ts) => ts.length === 10)
  const day = { day: 'numeric', month: 'short' } as const
  const format = areDays
    ? new Intl.DateTimeFormat(language, { ...day, timeZone: 'UTC' })
    : new Intl.DateTimeFormat(language, { ...day, hour: '2-digit', minute: '2-digit', timeZone })
  const words = moments.map((ts) => format.format(Date.parse(ts)))
  return new Set(words).size === words.length ? words : [...moments]
}

function formatOf(unit: string | null, locale: Locale): (value: number) => string {
  return (value) => {
    const rounded = Math.abs(value) >= 100 ? Math.round(value * 10) / 10 : Number(value.toPrecision(4))
    return unit === null ? formatNumber(rounded, locale) : `${formatNumber(rounded, locale)} ${unit}`
  }
}
