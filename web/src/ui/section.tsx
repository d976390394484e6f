import { type ReactNode, useId } from 'react'

export type SectionProps = {
  title: string
  description?: ReactNode
  children: ReactNode
  actions?: ReactNode
  /** For links to this section. */
  id?: string
}

/** A section of a settings page: title on the left, card on the right; stacked on narrow screens. */
export function Section({ title, description, children, actions, id }: SectionProps) {
  const headingId = useId()
  return (
    <section
      id={id}
      aria-labelledby={headingId}
      className="grid scroll-mt-16 gap-x-8 gap-y-3 border-t py-6 first-of-type:border-t-0 first-of-type:pt-0 lg:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]"
    >
      <div className="min-w-0">
        <h2 id={headingId} className="text-base font-semibold text-ink">
          {title}
        </h2>
        {description && <div className="mt-1 text-sm text-muted">{description}</div>}
        {actions && <div className="mt-3 flex flex-wrap gap-2">{actions}</div>}
      </div>
      <div className="flex min-w-0 max-w-2xl flex-col gap-4">{children}</div>
    </section>
  )
}
