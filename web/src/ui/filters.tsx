import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { Select, type SelectOption } from './select.tsx'

/** Filters above a list, in two columns on phones. */
export function Filters({ children, className }: { children: ReactNode; className?: string }) {
  return <div className={cx('grid grid-cols-2 gap-2 sm:flex sm:flex-wrap', className)}>{children}</div>
}

type FilterProps = {
  label: string
  options: readonly SelectOption[]
  /** undefined: the default option. */
  value: string | undefined
  /** The default option; it is not written to the address. */
  usual?: string
  onChange: (value: string | undefined) => void
}

export function Filter({ label, options, value, usual = 'all', onChange }: FilterProps) {
  return (
    <Select
      label={label}
      options={options}
      value={value ?? usual}
      onValueChange={(next) => onChange(next === usual ? undefined : next)}
      className="w-full sm:w-36"
    />
  )
}
