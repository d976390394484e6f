/** One point in time or one group: its axis label and a number per series; null when unknown. */
export type ChartPoint = { label: string; values: Record<string, number | null> }

export type ChartSeries = {
  id: string
  label: string
  tone?: ChartTone
}

export type ChartTone = 'accent' | 'success' | 'danger' | 'warning' | 'info' | 'muted'

export type ChartProps = {
  /** Names the chart and its table. */
  label: string
  data: readonly ChartPoint[]
  series: readonly ChartSeries[]
  /** Formats a number for the axis, the tooltip and the table. */
  format?: (value: number) => string
  /** Axis steps: decimal (default), or seconds, minutes and hours for values in milliseconds. */
  scale?: 'decimal' | 'duration'
  /** In pixels. */
  height?: number
  /** Heading of the point column in the table; default `Time`. */
  heading?: string
}

/** The colour token of a series. Series without a tone take the palette in order. */
export function colourOf(series: ChartSeries, index: number): string {
  const place = series.tone === undefined ? (index % 6) + 1 : tones[series.tone]
  return `var(--color-chart-${place})`
}

/** Dash patterns by series, so that lines differ without colour; the first is solid. */
export function dashOf(index: number): string | undefined {
  return dashes[index % dashes.length]
}

/** True for a known value without a known neighbour: a line has no length there, so it is drawn as a dot. */
export function isAlone(data: readonly ChartPoint[], id: string, index: number): boolean {
  const isKnown = (at: number) => (data[at]?.values[id] ?? null) !== null
  return isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1)
}

const tones: Record<ChartTone, number> = { accent: 1, danger: 2, success: 3, warning: 4, info: 5, muted: 6 }
const dashes = [undefined, '6 3', '2 3', '8 3 2 3', '1 4', '12 4']
