import type { Entry } from './entries.ts'

const most = 6

/** The ids of the last chosen items, newest first. Ids only: their texts may be private. */
export function withRecent(
  recent: readonly string[],
  { id, act }: Pick<Entry, 'id' | 'act'>,
): readonly string[] {
  // Repeating an action is no shortcut to a place.
  if (act.do !== 'go' && act.do !== 'apart') return recent
  return [id, ...recent.filter((other) => other !== id)].slice(0, most)
}

/** Items that no longer exist, or are not shared any more, are left out. */
export function recentEntries(recent: readonly string[], entries: readonly Entry[]): Entry[] {
  const known = new Map(entries.map((entry) => [entry.id, entry]))
  return recent.flatMap((id) => known.get(id) ?? [])
}
