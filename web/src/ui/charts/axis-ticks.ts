import type { ChartProps } from './chart-data.ts'

/** Intervals between the axis ticks, without rounding. */
const intervals = 4
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** Steps in milliseconds between 1 s and 1 day. */
const durationSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
]

/**
 * Equally spaced, round ticks from the first at or below the lowest value (at most 0) to the first at or above the
 * highest value. Values without fractions get ticks without fractions.
 */
export function axisTicks(values: readonly number[], scale: ChartProps['scale'] = 'decimal'): number[] {
  const known = values.filter(Number.isFinite)
  const high = known.reduce((most, value) => Math.max(most, value), 0)
  const low = known.reduce((least, value) => Math.min(least, value), 0)
  if (high === low) return [0, 1]
  const rough = (high - low) / intervals
  const step = scale === 'duration' ? durationStep(rough) : decimalStep(rough, known.every(Number.isInteger))
  // Division by the inverse gives 0.3 where 3 * 0.1 would give 0.30000000000000004.
  const at = (index: number) => (step < 1 ? index / Math.round(1 / step) : index * step)
  const first = Math.floor(round(low / step))
  const last = Math.ceil(round(high / step))
  return Array.from({ length: last - first + 1 }, (_, index) => at(first + index) + 0)
}

function durationStep(rough: number): number {
  if (rough < second) return decimalStep(rough, true)
  if (rough > 12 * hour) return Math.ceil(rough / day) * day
  return durationSteps.find((step) => step >= rough) ?? day
}

/** The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `rough`. */
function decimalStep(rough: number, isWhole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power)
  const step = steps.find((each) => round(each) >= round(rough) && (!isWhole || Number.isInteger(each)))
  return isWhole ? Math.max(1, step ?? 1) : (step ?? power)
}

/** The known values of a chart; with `isStacked`, the sum of each point. */
export function valuesOf({ data, series }: Pick<ChartProps, 'data' | 'series'>, isStacked = false): number[] {
  const points = data.map(({ values }) => series.flatMap(({ id }) => values[id] ?? []))
  return isStacked ? points.map((point) => point.reduce((sum, value) => sum + value, 0)) : points.flat()
}

/** Removes the error of floating-point division. */
function round(value: number): number {
  return Number(value.toPrecision(12))
}
