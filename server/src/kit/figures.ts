/** A rate from 0 to 1; null without successes and failures. */
export function successRate(success: number, failed: number): number | null {
  return success + failed === 0 ? null : success / (success + failed)
}

/** Nearest-rank percentile of ascending values; null for an empty list. */
export function percentile(ascending: readonly number[], percent: number): number | null {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] ?? null
}

/** Rounded to an integer; null when `count` is 0. */
export function average(total: number, count: number): number | null {
  return count === 0 ? null : Math.round(total / count)
}
