import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type KeyValue = { label: string; value: ReactNode }

export type KeyValuesProps = {
  items: readonly (KeyValue | false | null | undefined)[]
  columns?: 1 | 2
  className?: string
}

/** A list of labelled values. An empty value is shown as a dash. */
export function KeyValues({ items, columns = 1, className }: KeyValuesProps) {
  return (
    <dl className={cx('grid min-w-0 gap-x-8 text-sm', columns === 2 && 'sm:grid-cols-2', className)}>
      {items.map(
        (item) =>
          item && (
            <div
              key={item.label}
              className="grid grid-cols-[minmax(6rem,2fr)_minmax(0,5fr)] items-baseline gap-3 py-1"
            >
              <dt className="text-muted">{item.label}</dt>
              <dd className="min-w-0 break-words text-ink">{isEmpty(item.value) ? <Dash /> : item.value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function Dash() {
  return (
    <>
      <span aria-hidden="true" className="text-faint">
        –
      </span>
      <span className="sr-only">none</span>
    </>
  )
}

function isEmpty(value: ReactNode): boolean {
  return value === null || value === undefined || value === '' || value === false
}
