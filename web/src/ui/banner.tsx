import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

type BannerTone = 'neutral' | 'info' | 'success' | 'warning' | 'danger'

export type BannerProps = {
  tone?: BannerTone
  title?: ReactNode
  children?: ReactNode
  action?: ReactNode
  icon?: ReactNode
  onDismiss?: () => void
  className?: string
}

/**
 * A lasting message inside a page. Errors are announced immediately, others when the screen reader is idle.
 */
export function Banner({ tone = 'info', title, children, action, icon, onDismiss, className }: BannerProps) {
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={cx(
        'flex flex-wrap items-start gap-x-3 gap-y-2 rounded-lg px-3 py-2 text-sm text-ink [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0',
        tones[tone],
        className,
      )}
    >
      {icon ?? icons[tone]}
      <div className="min-w-0 flex-1 basis-40">
        {title && <p className="font-medium">{title}</p>}
        {children && <div className={title ? 'mt-0.5 text-muted' : undefined}>{children}</div>}
      </div>
      {action && <div className="flex flex-wrap gap-2">{action}</div>}
      {onDismiss && (
        <button
          type="button"
          aria-label="Dismiss"
          onClick={onDismiss}
          className="-my-0.5 -mr-1 grid size-6 place-items-center rounded-sm text-muted hover:text-ink"
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
    </div>
  )
}

const tones: Record<BannerTone, string> = {
  neutral: 'bg-hover [&>svg]:text-muted',
  info: 'bg-info-soft [&>svg]:text-info',
  success: 'bg-success-soft [&>svg]:text-success',
  warning: 'bg-warning-soft [&>svg]:text-warning',
  danger: 'bg-danger-soft [&>svg]:text-danger',
}

const icons: Record<BannerTone, ReactNode> = {
  neutral: <Info aria-hidden />,
  info: <Info aria-hidden />,
  success: <CircleCheck aria-hidden />,
  warning: <TriangleAlert aria-hidden />,
  danger: <CircleAlert aria-hidden />,
}
