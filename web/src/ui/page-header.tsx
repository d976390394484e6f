import type { ReactNode } from 'react'

export type PageHeaderProps = {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** A link to the parent page, above the title. */
  back?: ReactNode
  /** Beside the title, also if that is long: a status, a badge or the help button. */
  aside?: ReactNode
}

export function PageHeader({ title, description, actions, back, aside }: PageHeaderProps) {
  return (
    <header className="mb-5 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        {back && <div className="mb-1 text-xs text-muted [&_a:hover]:text-ink">{back}</div>}
        <div className="flex items-center gap-x-3">
          <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words text-ink">{title}</h1>
          {aside && <div className="flex shrink-0 items-center gap-x-3">{aside}</div>}
        </div>
        {description && <div className="mt-0.5 max-w-2xl text-sm text-muted">{description}</div>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}
