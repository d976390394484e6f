/** The new active row after a key press among `count` rows, with `page` rows in view; null for no move. */
export function rowAfterKey(key: string, from: number, count: number, page: number): number | null {
  if (count === 0) return null
  const steps: Record<string, number> = {
    ArrowDown: 1,
    j: 1,
    ArrowUp: -1,
    k: -1,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  }
  const step = steps[key]
  if (step === undefined) return null
  return Math.min(Math.max(from + step, 0), count - 1)
}

/** The selection after one row was toggled. With `anchor`, the rows between the two get the same state. */
export function toggleRows(input: {
  selected: ReadonlySet<string>
  keys: readonly string[]
  key: string
  anchor: string | null
}): Set<string> {
  const next = new Set(input.selected)
  const isOn = !next.has(input.key)
  const to = input.keys.indexOf(input.key)
  const from = input.anchor === null ? to : input.keys.indexOf(input.anchor)
  const range = from === -1 ? [input.key] : input.keys.slice(Math.min(from, to), Math.max(from, to) + 1)
  for (const key of range) isOn ? next.add(key) : next.delete(key)
  return next
}

/** Numbers by value, everything else in natural order (`run 2` before `run 10`). */
export function compareValues(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return words.compare(String(left), String(right))
}

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
