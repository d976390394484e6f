import { Progress as Primitive } from 'radix-ui'
import { formatPercent } from '../lib/format.ts'
import { cx } from './class-names.ts'

export type ProgressBarProps = {
  /** A share of one; null while it is not known how far it is. */
  value: number | null
  label: string
  className?: string
}

/** How far something under way has come. */
export function ProgressBar({ value, label, className }: ProgressBarProps) {
  const share = value === null ? null : clamp(value)
  return (
    <Primitive.Root
      value={share === null ? null : share * 100}
      aria-label={label}
      className={cx('h-1.5 w-full overflow-hidden rounded-full bg-line', className)}
    >
      <Primitive.Indicator
        className={cx(
          'block h-full rounded-full bg-accent transition-[width] duration-300',
          share === null && 'animate-pulse',
        )}
        style={{ width: share === null ? '100%' : `${share * 100}%` }}
      />
    </Primitive.Root>
  )
}

export type MeterProps = {
  label: string
  value: number
  max: number
  /** The amounts in words; percent unless told. */
  text?: string
  /** Shares of one from which it looks tight or too much. */
  warnAt?: number
  dangerAt?: number
  hideLabel?: boolean
}

/** How much of an allowance is used: memory, quota, budget. */
export function Meter({ label, value, max, text, warnAt = 0.8, dangerAt = 0.95, hideLabel }: MeterProps) {
  const share = max > 0 ? clamp(value / max) : 0
  const words = text ?? formatPercent(share)
  const state = share >= dangerAt ? 'danger' : share >= warnAt ? 'warning' : 'fine'
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {!hideLabel && (
        <div className="flex items-baseline justify-between gap-2 text-xs">
          <span className="truncate text-muted">{label}</span>
          <span data-numeric className={cx('shrink-0', state === 'fine' ? 'text-ink' : textTones[state])}>
            {words}
          </span>
        </div>
      )}
      {/* The browser's own meter cannot be drawn alike everywhere: it speaks, the bar below it is seen. */}
      <meter aria-label={label} aria-valuetext={words} value={value} min={0} max={max} className="sr-only" />
      <div
        aria-hidden="true"
        title={hideLabel ? `${label}: ${words}` : undefined}
        className="h-1.5 w-full overflow-hidden rounded-full bg-line"
      >
        <div className={cx('h-full rounded-full', barTones[state])} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

const barTones = { fine: 'bg-accent', warning: 'bg-warning', danger: 'bg-danger' } as const
const textTones = { warning: 'text-warning', danger: 'text-danger' } as const
