/** A binary heap that returns the item with the least `at` first. `put` and `take` take logarithmic time. */
export type Heap<Item extends { at: number }> = {
  put(item: Item): void
  first(): Item | undefined
  take(): Item | undefined
  readonly size: number
}

export function createHeap<Item extends { at: number }>(): Heap<Item> {
  const items: Item[] = []

  const isBefore = (one: number, other: number) => atOf(items, one) < atOf(items, other)

  function swap(one: number, other: number): void {
    const [a, b] = [items[one], items[other]]
    if (a === undefined || b === undefined) return
    items[one] = b
    items[other] = a
  }

  function rise(from: number): void {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(index, parent)) return
      swap(index, parent)
      index = parent
    }
  }

  function sink(): void {
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const least = isBefore(left + 1, left) ? left + 1 : left
      if (!isBefore(least, index)) return
      swap(index, least)
      index = least
    }
  }

  return {
    put(item) {
      items.push(item)
      rise(items.length - 1)
    },
    first: () => items[0],
    take() {
      const first = items[0]
      const last = items.pop()
      if (last !== undefined && items.length > 0) {
        items[0] = last
        sink()
      }
      return first
    },
    get size() {
      return items.length
    },
  }
}

/** Infinity for a missing item. */
function atOf(items: readonly { at: number }[], index: number): number {
  return items[index]?.at ?? Number.POSITIVE_INFINITY
}
