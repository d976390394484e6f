import { ToggleGroup } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { useFieldGroup } from './field.tsx'

export type SegmentedOption<Value extends string> = { value: Value; label: string; icon?: ReactNode }

export type SegmentedProps<Value extends string> = {
  value: Value
  onValueChange: (value: Value) => void
  options: readonly SegmentedOption<Value>[]
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
  size?: 'sm' | 'md'
  className?: string
}

/** A choice among two to five visible options. */
export function Segmented<Value extends string>(props: SegmentedProps<Value>) {
  const { value, onValueChange, options, label, size = 'md', className } = props
  const wiring = useFieldGroup()
  return (
    <ToggleGroup.Root
      {...wiring}
      type="single"
      aria-label={label}
      value={value}
      // Pressing the active option gives an empty string, which is ignored: one option is always active.
      onValueChange={(next) => next && onValueChange(next as Value)}
      className={cx(
        'inline-flex w-fit max-w-full items-center gap-0.5 overflow-x-auto rounded-md border border-line bg-sunken p-0.5',
        className,
      )}
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          className={cx(
            'inline-flex shrink-0 items-center gap-1.5 rounded-sm border border-transparent px-2.5 font-medium whitespace-nowrap text-muted transition-colors duration-100 hover:text-ink focus-visible:-outline-offset-1 data-[state=on]:border-line-strong data-[state=on]:bg-raised data-[state=on]:text-ink data-[state=on]:shadow-xs [&_svg]:size-3.5',
            size === 'sm' ? 'h-6 text-xs' : 'h-6.5 text-sm',
          )}
        >
          {option.icon}
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
