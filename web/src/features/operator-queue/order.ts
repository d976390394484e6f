/**
 * The item to show after `id` has left the list: the next one, else the previous one; null for an empty list.
 */
export function afterIt(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id)
  return ids[at + 1] ?? ids[at - 1] ?? null
}

/** The item `step` positions from the current one, within the list. Without a current item, the first. */
export function neighbour(ids: readonly string[], id: string | null, step: 1 | -1): string | null {
  const at = id === null ? -1 : ids.indexOf(id)
  if (at === -1) return ids[0] ?? null
  return ids[at + step] ?? ids[at] ?? null
}

/** All items between two items, both included. Only the second when the first is not in the list. */
export function between(ids: readonly string[], from: string | null, to: string): string[] {
  const ends = [from === null ? -1 : ids.indexOf(from), ids.indexOf(to)]
  if (ends.includes(-1)) return [to]
  return ids.slice(Math.min(...ends), Math.max(...ends) + 1)
}
