/** Milliseconds before attempt `attempt` (from 0): doubles from 100 ms to 15 s, half of it random. */
export function retryDelayMs(attempt: number, chance: () => number = Math.random): number {
  const full = Math.min(15_000, 100 * 2 ** Math.min(attempt, 10))
  return full / 2 + (full / 2) * chance()
}
