import type { ChartPoint, ChartSeries } from './chart-data.ts'
import { colourOf } from './chart-data.ts'

export type ChartTooltipProps = {
  series: readonly ChartSeries[]
  format: (value: number) => string
  /** The props that the chart passes while the pointer is over a point. */
  active?: boolean
  payload?: readonly { payload?: ChartPoint }[]
}

export function ChartTooltip({ series, format, active, payload }: ChartTooltipProps) {
  const point = payload?.[0]?.payload
  if (!active || !point) return null
  return (
    <div className="min-w-32 rounded-md border border-line bg-raised px-2.5 py-2 text-xs text-ink shadow-md">
      <p className="mb-1 font-medium">{point.label}</p>
      {series.map((one, index) => {
        const value = point.values[one.id]
        return (
          <p key={one.id} className="flex items-center justify-between gap-4">
            <span className="flex items-center gap-1.5 text-muted">
              <span className="size-2 rounded-xs" style={{ background: colourOf(one, index) }} />
              {one.label}
            </span>
            <span data-numeric>{value === null || value === undefined ? '–' : format(value)}</span>
          </p>
        )
      })}
    </div>
  )
}
