import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { Title } from './title.tsx'

export type EmptyStateProps = {
  icon?: ReactNode
  title: string
  /** The page has nothing else: the title becomes the page heading and the document title. */
  isPage?: boolean
  /** The purpose of this place and the next step. */
  description?: ReactNode
  action?: ReactNode
  className?: string
}

export function EmptyState({ icon, title, isPage, description, action, className }: EmptyStateProps) {
  const Heading = isPage ? 'h1' : 'p'
  return (
    <div className={cx('mx-auto flex max-w-sm flex-col items-center px-4 py-10 text-center', className)}>
      {isPage && <Title of={[title]} />}
      {icon && (
        <span className="mb-3 grid size-9 place-items-center rounded-lg border border-line bg-sunken text-muted [&_svg]:size-4.5">
          {icon}
        </span>
      )}
      <Heading className="text-base font-medium text-ink">{title}</Heading>
      {description && <div className="mt-1 text-sm text-balance text-muted">{description}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
