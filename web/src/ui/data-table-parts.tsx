import { useCallback, useEffect, useMemo, useRef } from 'react'
import { toggleRows } from './data-table-keys.ts'
import { Skeleton } from './skeleton.tsx'
import { useLatest } from './use-latest.ts'

/** Empty space in place of rows that are not rendered. */
export function Gap({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row is not focusable
    <tr aria-hidden="true" style={{ height }}>
      <td className="border-none p-0" />
    </tr>
  )
}

export function SkeletonRows({ count, columns, height }: { count: number; columns: number; height: number }) {
  return [...Array(count).keys()].map((row) => (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: these rows are not focusable
    <tr key={row} aria-hidden="true" style={{ height }}>
      {[...Array(columns).keys()].map((column) => (
        <td key={column} className="border-b px-3">
          <Skeleton className={widths[(row + column) % widths.length]} />
        </td>
      ))}
    </tr>
  ))
}

export type SelectionInput = {
  selected?: ReadonlySet<string>
  onSelectedChange?: (selected: Set<string>) => void
}

/** Row selection: single, a range with Shift, or all. Null when rows cannot be selected. */
export function useSelection(input: SelectionInput, keys: readonly string[]) {
  const latest = useLatest({ ...input, keys })
  const anchor = useRef<string | null>(null)
  const toggle = useCallback(
    (key: string, isRange: boolean) => {
      const { selected = nothing, onSelectedChange, keys } = latest.current
      onSelectedChange?.(toggleRows({ selected, keys, key, anchor: isRange ? anchor.current : null }))
      anchor.current = key
    },
    [latest],
  )
  const selected = input.selected ?? nothing
  const count = useMemo(
    () => (selected.size === 0 ? 0 : keys.filter((key) => selected.has(key)).length),
    [keys, selected],
  )
  if (!input.onSelectedChange) return null
  const state = count === 0 ? false : count === keys.length ? true : ('indeterminate' as const)
  const toggleAll = (all: boolean) => input.onSelectedChange?.(new Set(all ? keys : []))
  return { selected, state, toggle, toggleAll }
}

/**
 * Calls `onEndReached` when the end comes into view: once for each number of rows, and again whenever it was undefined
 * meanwhile, as while something else is loaded.
 */
export function useEndReached(last: number, count: number, onEndReached: (() => void) | undefined): void {
  const latest = useLatest(onEndReached)
  const isNear = count > 0 && last >= count - 5
  const isReady = onEndReached !== undefined
  useEffect(() => {
    // Each new page of rows changes the count and may report its end again.
    if (isNear && isReady && count > 0) latest.current?.()
  }, [isNear, isReady, count, latest])
}

const nothing: ReadonlySet<string> = new Set()
const widths = ['w-3/4', 'w-1/2', 'w-2/3', 'w-5/6']
