import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type PageHeaderProps = {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** A link to the parent page, above the title. */
  back?: ReactNode
  /** Beside the title: a status or a badge. */
  aside?: ReactNode
}

export function PageHeader({ title, description, actions, back, aside }: PageHeaderProps) {
  return (
    <header className="mb-5 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        {back && <div className="mb-1 text-xs text-muted [&_a:hover]:text-ink">{back}</div>}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          {/* Leaves room for the button that opens the guide, so that it stays beside a long title. */}
          <h1
            className={cx(
              'min-w-0 text-xl font-semibold tracking-tight break-words text-ink',
              aside ? 'max-w-[calc(100%-3.25rem)]' : null,
            )}
          >
            {title}
          </h1>
          {aside}
        </div>
        {description && <div className="mt-0.5 max-w-2xl text-sm text-muted">{description}</div>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}
