import { Progress as Primitive } from 'radix-ui'
import { formatPercent } from '../lib/format.ts'
import { cx } from './class-names.ts'

export type ProgressBarProps = {
  /** Between 0 and 1; null while unknown. */
  value: number | null
  label: string
  className?: string
}

/** The progress of a running operation. */
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
  /** The amounts as text; default: percent. */
  text?: string
  /** Shares (0 to 1) from which the level is a warning or critical. */
  warnAt?: number
  dangerAt?: number
  hideLabel?: boolean
}

/** Usage of a limit: memory, quota, budget. */
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
      {/* The native meter cannot be styled consistently: it serves screen readers, the bar below is visible. */}
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
