import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type EmptyStateProps = {
  icon?: ReactNode
  title: string
  /** What this place is for and what to do next. */
  description?: ReactNode
  action?: ReactNode
  className?: string
}

export function EmptyState({ icon, title, description, action, className }: EmptyStateProps) {
  return (
    <div className={cx('mx-auto flex max-w-sm flex-col items-center px-4 py-10 text-center', className)}>
      {icon && (
        <span className="mb-3 grid size-9 place-items-center rounded-lg border border-line bg-sunken text-muted [&_svg]:size-4.5">
          {icon}
        </span>
      )}
      <p className="text-base font-medium text-ink">{title}</p>
      {description && <div className="mt-1 text-sm text-balance text-muted">{description}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
