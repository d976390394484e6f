import type { ReactNode } from 'react'
import { plural } from '../lib/format.ts'
import { Button } from './button.tsx'

export type SelectionBarProps = {
  /** The singular of the rows, such as `run`. */
  noun: string
  count: number
  onClear: () => void
  /** Buttons for the actions. */
  children: ReactNode
}

/** Above a table: the number of selected rows and the actions on them. Empty without a selection. */
export function SelectionBar({ noun, count, onClear, children }: SelectionBarProps) {
  const words = `${plural(count, noun)} selected`
  return (
    <>
      <span role="status" className="sr-only">
        {count > 0 && words}
      </span>
      {count > 0 && (
        <section
          aria-label={`Selected ${noun}s`}
          className="flex flex-wrap items-center gap-x-3 gap-y-1.5 rounded-lg border border-line bg-accent-soft px-3 py-1.5 text-sm"
        >
          <span aria-hidden data-numeric>
            {words}
          </span>
          <span className="flex flex-wrap items-center gap-1.5">{children}</span>
          <Button size="sm" variant="ghost" onClick={onClear} className="ml-auto">
            Clear selection
          </Button>
        </section>
      )}
    </>
  )
}
