import { ArrowDownRight, ArrowRight, ArrowUpRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type Trend = {
  direction: 'up' | 'down' | 'flat'
  /** e.g. `12% more than last week`. */
  label: string
  /** Whether the change is good or bad; neutral by default. */
  isGood?: boolean
}

export type StatCardProps = {
  label: string
  value: ReactNode
  hint?: ReactNode
  trend?: Trend
  /** A small chart at the bottom. */
  chart?: ReactNode
  /** Makes the whole card a link: receives content and class, returns the router's link. */
  to?: (card: { className: string; children: ReactNode }) => ReactNode
  tone?: 'neutral' | 'danger' | 'warning'
}

export function StatCard({ label, value, hint, trend, chart, to, tone = 'neutral' }: StatCardProps) {
  const inside = (
    <>
      <span className="block truncate text-xs font-medium text-muted">{label}</span>
      <span data-numeric className={cx('mt-1 block text-2xl font-semibold tracking-tight', valueTones[tone])}>
        {value}
      </span>
      {trend && <TrendLine trend={trend} />}
      {hint && <span className="mt-0.5 block text-xs text-faint">{hint}</span>}
      {chart && <span className="mt-2 block">{chart}</span>}
    </>
  )
  const className = 'block min-w-0 rounded-lg border border-line bg-surface p-4 text-left'
  if (!to) return <div className={className}>{inside}</div>
  return to({
    className: cx(className, 'transition-colors duration-100 hover:border-line-strong hover:bg-hover'),
    children: inside,
  })
}

function TrendLine({ trend }: { trend: Trend }) {
  const Arrow = { up: ArrowUpRight, down: ArrowDownRight, flat: ArrowRight }[trend.direction]
  const tone = trend.isGood === undefined ? 'text-muted' : trend.isGood ? 'text-success' : 'text-danger'
  return (
    <span className={cx('mt-0.5 flex items-start gap-1 text-xs', tone)}>
      <Arrow aria-hidden className="mt-0.5 size-3 shrink-0" />
      <span className="min-w-0">{trend.label}</span>
    </span>
  )
}

const valueTones = { neutral: 'text-ink', danger: 'text-danger', warning: 'text-warning' } as const
