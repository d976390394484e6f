import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info'

export type BadgeProps = { tone?: Tone; icon?: ReactNode; children: ReactNode; className?: string }

export function Badge({ tone = 'neutral', icon, children, className }: BadgeProps) {
  return (
    <span
      className={cx(
        'inline-flex h-5 max-w-full items-center gap-1 rounded-sm px-1.5 text-xs font-medium whitespace-nowrap [&_svg]:size-3 [&_svg]:shrink-0',
        tones[tone],
        className,
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  )
}

export type StatusDotProps = {
  tone: Tone
  label: string
  /** Work is in progress: the mark is animated. */
  pulse?: boolean
  /** Shows only the mark; the label stays available to screen readers and on hover. */
  compact?: boolean
}

/** A state as a mark and a word. The shape of the mark differs by tone, so colour is not needed. */
export function StatusDot({ tone, label, pulse = false, compact = false }: StatusDotProps) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={compact ? label : undefined}>
      <svg
        viewBox="0 0 8 8"
        aria-hidden="true"
        className={cx('size-2 shrink-0', dotTones[tone], pulse && 'animate-pulse')}
      >
        {marks[tone]}
      </svg>
      <span className={compact ? 'sr-only' : 'truncate first-letter:uppercase'}>{label}</span>
    </span>
  )
}

const tones: Record<Tone, string> = {
  neutral: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
  info: 'bg-info-soft text-info',
}

const dotTones: Record<Tone, string> = {
  neutral: 'text-faint',
  accent: 'text-accent',
  success: 'text-success',
  warning: 'text-warning',
  danger: 'text-danger',
  info: 'text-info',
}

const marks: Record<Tone, ReactNode> = {
  neutral: <circle cx="4" cy="4" r="3" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  accent: <circle cx="4" cy="4" r="4" fill="currentColor" />,
  success: <circle cx="4" cy="4" r="4" fill="currentColor" />,
  warning: <path d="M4 0 8 7.5H0Z" fill="currentColor" />,
  danger: <rect width="7" height="7" x="0.5" y="0.5" rx="1" fill="currentColor" />,
  info: (
    <>
      <circle cx="4" cy="4" r="3.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <circle cx="4" cy="4" r="1.5" fill="currentColor" />
    </>
  ),
}
