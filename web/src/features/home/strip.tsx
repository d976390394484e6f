import { formatClock, plural } from '../../lib/format.ts'
import type { Hour, Strip } from './hours.ts'

const columns = 'grid auto-cols-fr grid-flow-col'
/** Hours of the day with a label. */
const labelEvery = 6
/** A label is wider than its hour. */
const labelWidth = 4

/** One bar per hour, failed runs below the base line. */
export function HourStrip({ strip: { hours, base } }: { strip: Strip }) {
  return (
    <div className="min-w-0">
      <ol aria-label="Runs by hour" className={`${columns} h-24 gap-px`}>
        {hours.map((hour) => (
          <li key={hour.at} title={hourWords(hour)} className="relative rounded-xs hover:bg-hover">
            <span className="sr-only">{hourWords(hour)}</span>
            <Bar share={hour.above} className="rounded-t-xs bg-chart-3" style={{ bottom: percent(base) }} />
            <span
              aria-hidden
              className="absolute inset-x-0 border-t border-line-strong"
              style={{ bottom: percent(base) }}
            />
            <Bar share={hour.below} className="rounded-b-xs bg-chart-2" style={{ top: percent(1 - base) }} />
          </li>
        ))}
      </ol>
      <div aria-hidden className={`${columns} mt-1 h-4 overflow-hidden text-2xs text-faint tabular-nums`}>
        {hours.map(({ at }, index) => (
          <span key={at} className="w-0 whitespace-nowrap">
            {new Date(at).getHours() % labelEvery === 0 && index <= hours.length - labelWidth
              ? formatClock(at)
              : null}
          </span>
        ))}
      </div>
      <ul aria-hidden className="mt-2 flex flex-wrap gap-x-4 text-muted text-xs">
        <li className="flex items-center gap-1.5">
          <span className="h-2.5 w-1.5 rounded-t-xs border-line-strong border-b bg-chart-3" />
          above the line: all other runs
        </li>
        <li className="flex items-center gap-1.5">
          <span className="h-2.5 w-1.5 rounded-b-xs border-line-strong border-t bg-chart-2" />
          below the line: failed runs
        </li>
      </ul>
    </div>
  )
}

type BarProps = { share: number; className: string; style: { top: string } | { bottom: string } }

function Bar({ share, className, style }: BarProps) {
  if (share === 0) return null
  return (
    <span
      aria-hidden
      className={`absolute inset-x-0 min-h-0.5 ${className}`}
      style={{ ...style, height: percent(share) }}
    />
  )
}

function percent(share: number): string {
  return `${share * 100}%`
}

function hourWords({ at, total, failed }: Hour): string {
  return `${formatClock(at)}: ${plural(total, 'run')}${failed > 0 ? `, ${failed} failed` : ''}`
}
