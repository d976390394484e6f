import type { ComponentProps } from 'react'

export type ScrollRegionProps = Omit<ComponentProps<'div'>, 'role' | 'aria-label' | 'tabIndex'> & {
  label: string
}

/** A scrollable area with a name and a tab stop, so that the keyboard can scroll it. */
export function ScrollRegion({ label, children, ...rest }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would add a landmark for each code block
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs a tab stop
    <div role="group" aria-label={label} tabIndex={0} {...rest}>
      {children}
    </div>
  )
}
