import { useMemo, useState } from 'react'

export type RowSelection<Row> = {
  /** Keys; some may be of rows that are not shown any more. */
  selected: ReadonlySet<string>
  setSelected: (keys: ReadonlySet<string>) => void
  /** The selected rows that are shown, with their current data. */
  chosen: Row[]
  /** Deselects some rows; default: all. */
  clear: (keys?: readonly string[]) => void
}

/**
 * The selected rows of a list. New data keeps the selection, another scope (the filter and the page) clears it. Pass
 * the same `keyOf` each time.
 */
export function useRowSelection<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  scope: string,
): RowSelection<Row> {
  const [selected, setSelected] = useState(nothing)
  const [shownScope, setShownScope] = useState(scope)
  if (shownScope !== scope) {
    setShownScope(scope)
    setSelected(nothing)
  }
  const chosen = useMemo(() => rows.filter((row) => selected.has(keyOf(row))), [rows, selected, keyOf])
  const clear = (keys?: readonly string[]) =>
    setSelected((before) => (keys ? new Set([...before].filter((key) => !keys.includes(key))) : nothing))
  return { selected, setSelected, chosen, clear }
}

const nothing: ReadonlySet<string> = new Set()
