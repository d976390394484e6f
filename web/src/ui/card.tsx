import type { ComponentProps, ReactNode } from 'react'
import { cx } from './class-names.ts'

export type CardProps = ComponentProps<'section'> & { padded?: boolean }

export function Card({ padded = true, className, ...rest }: CardProps) {
  return (
    <section
      {...rest}
      className={cx('min-w-0 rounded-lg border border-line bg-surface', padded && 'p-4', className)}
    />
  )
}

export type CardHeaderProps = {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  icon?: ReactNode
  className?: string
}

export function CardHeader({ title, description, actions, icon, className }: CardHeaderProps) {
  return (
    <header className={cx('mb-3 flex flex-wrap items-start justify-between gap-x-4 gap-y-2', className)}>
      <div className="min-w-0">
        <h2 className="flex items-center gap-2 text-base font-semibold text-ink [&_svg]:size-4 [&_svg]:text-muted">
          {icon}
          {title}
        </h2>
        {description && <p className="mt-0.5 text-sm text-muted">{description}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}
