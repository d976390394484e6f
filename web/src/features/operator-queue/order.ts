import { itemPriorities, type QueueItem } from '@roost/contracts/operations/operator-queue'

type Ranked = Pick<QueueItem, 'id' | 'priority' | 'created_at' | 'status'>

/** What waits: the most urgent first, of equals the one that waits longest. What is over: the newest first. */
export function inOrder<Item extends Ranked>(items: readonly Item[]): Item[] {
  return items.toSorted((one, other) => {
    const isWaiting = [one, other].map(({ status }) => status === 'pending')
    if (isWaiting[0] !== isWaiting[1]) return isWaiting[0] ? -1 : 1
    if (!isWaiting[0]) return other.created_at.localeCompare(one.created_at)
    return rank(one) - rank(other) || one.created_at.localeCompare(other.created_at)
  })
}

function rank({ priority }: Ranked): number {
  return itemPriorities.indexOf(priority)
}

/** Which one is shown after `id` has left the list: the next one, else the one before; null when none is left. */
export function afterIt(ids: readonly string[], id: string): string | null {
  const at = ids.indexOf(id)
  return ids[at + 1] ?? ids[at - 1] ?? null
}

/** The one `step` places from the selected one, within the list; without a selection its first. */
export function neighbour(ids: readonly string[], id: string | null, step: 1 | -1): string | null {
  const at = id === null ? -1 : ids.indexOf(id)
  if (at === -1) return ids[0] ?? null
  return ids[at + step] ?? ids[at] ?? null
}
