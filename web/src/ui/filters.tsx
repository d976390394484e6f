import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { Select, type SelectOption } from './select.tsx'

/** Choices over a list: two beside each other on phones. */
export function Filters({ children, className }: { children: ReactNode; className?: string }) {
  return <div className={cx('grid grid-cols-2 gap-2 sm:flex sm:flex-wrap', className)}>{children}</div>
}

type FilterProps = {
  label: string
  options: readonly SelectOption[]
  /** undefined: the usual one. */
  value: string | undefined
  /** The one that no address names. */
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
