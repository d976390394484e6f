import type { ReactNode } from 'react'

export type ScrollRegionProps = { label: string; className?: string; children: ReactNode }

/** What scrolls by itself has a name and a place in the tab order, so that a keyboard can scroll it. */
export function ScrollRegion({ label, className, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be one more landmark for each piece of code
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div role="group" aria-label={label} tabIndex={0} className={className}>
      {children}
    </div>
  )
}
