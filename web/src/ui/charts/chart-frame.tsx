import { type ReactNode, Suspense } from 'react'
import { Skeleton } from '../skeleton.tsx'
import { type ChartProps, type ChartSeries, colourOf, dashOf } from './chart-data.ts'
import { PatternSwatch } from './patterns.tsx'

/** The frame of every chart: legend, skeleton while the library loads, and the numbers as a table. */
export function ChartFrame({
  chart,
  kind,
  children,
}: {
  chart: ChartProps
  kind: 'bars' | 'lines'
  children: ReactNode
}) {
  return (
    <figure className="m-0 min-w-0">
      {chart.series.length > 1 && <Legend series={chart.series} kind={kind} />}
      <div aria-hidden="true" style={{ height: chart.height ?? 200 }}>
        <Suspense fallback={<Skeleton className="h-full w-full rounded-md" />}>{children}</Suspense>
      </div>
      <figcaption className="sr-only">{chart.label}</figcaption>
      <NumbersTable {...chart} />
    </figure>
  )
}

/** Only the drawing is missing: the table still has all numbers. */
export function ChartMissing() {
  return (
    <p className="grid h-full place-items-center text-sm text-muted">
      Could not load the chart. Roost retries automatically.
    </p>
  )
}

function Legend({ series, kind }: { series: readonly ChartSeries[]; kind: 'bars' | 'lines' }) {
  return (
    <ul aria-hidden="true" className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {series.map((one, index) => (
        <li key={one.id} className="flex items-center gap-1.5">
          {kind === 'bars' ? (
            <PatternSwatch colour={colourOf(one, index)} index={index} />
          ) : (
            <svg viewBox="0 0 16 8" className="h-2 w-4" aria-hidden="true">
              <line
                x2="16"
                y1="4"
                y2="4"
                stroke={colourOf(one, index)}
                strokeWidth="2"
                strokeDasharray={dashOf(index)}
              />
            </svg>
          )}
          {one.label}
        </li>
      ))}
    </ul>
  )
}

function NumbersTable({ label, data, series, format = String, heading = 'Time' }: ChartProps) {
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            {series.map((one) => (
              <th key={one.id} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((point) => (
            <tr key={point.label}>
              <th scope="row">{point.label}</th>
              {series.map((one) => {
                const value = point.values[one.id]
                return <td key={one.id}>{value === null || value === undefined ? 'none' : format(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
