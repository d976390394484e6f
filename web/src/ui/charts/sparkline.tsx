import { cx } from '../class-names.ts'
import { sparklinePoints } from './sparkline-points.ts'

export type SparklineProps = {
  /** Oldest first; null leaves a gap. */
  values: readonly (number | null)[]
  /** Describes the line with its numbers for screen readers: `Runs a day, 3 to 12, last 7`. */
  label: string
  tone?: 'accent' | 'danger' | 'muted'
  className?: string
}

/** A word-sized line chart, drawn without the chart library. */
export function Sparkline({ values, label, tone = 'accent', className }: SparklineProps) {
  const lines = sparklinePoints(values, width, height)
  const last = lines.at(-1)?.at(-1)
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className={cx('h-6 w-24 overflow-visible', tones[tone], className)}
    >
      {lines.map((points) => (
        <polyline
          key={points[0]?.join()}
          points={points.map((point) => point.join()).join(' ')}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeLinecap="round"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      ))}
      {last && (
        <line
          x1={last[0]}
          x2={last[0]}
          y1={last[1]}
          y2={last[1]}
          stroke="currentColor"
          strokeWidth="5"
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  )
}

const width = 96
const height = 24
const tones = { accent: 'text-accent', danger: 'text-danger', muted: 'text-faint' } as const
