/** Seeded random numbers: the same seed yields the same sequence. */
export type Chance = {
  /** From 0 up to, not including, 1. */
  next(): number
  between(low: number, high: number): number
  /** An integer from `low` to `high`, both included. */
  whole(low: number, high: number): number
  /** Picks a value in proportion to its weight; the list must not be empty. */
  pick<T>(weighted: readonly (readonly [weight: number, value: T])[]): T
  /** Returns an independent sequence, so that concurrent users do not change each other's order. */
  fork(): Chance
}

/** Mulberry32: small, and sufficient for this purpose. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number) => low + next() * (high - low)
  return {
    next,
    between,
    whole: (low, high) => Math.floor(between(low, high + 1)),
    pick(weighted) {
      let left = between(
        0,
        weighted.reduce((sum, [weight]) => sum + weight, 0),
      )
      for (const [weight, value] of weighted) {
        left -= weight
        if (left < 0) return value
      }
      const last = weighted.at(-1)
      if (!last) throw new Error('Nothing to choose from.')
      return last[1]
    },
    fork: () => createChance(Math.floor(next() * 4_294_967_296)),
  }
}
