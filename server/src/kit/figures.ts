/** 0 to 1; null when nothing succeeded or failed. */
export function successRate(success: number, failed: number): number | null {
  return success + failed === 0 ? null : success / (success + failed)
}

/** The nearest rank of ascending values; null of none. */
export function percentile(ascending: readonly number[], percent: number): number | null {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] ?? null
}

/** Rounded to a whole number; null of none. */
export function average(total: number, count: number): number | null {
  return count === 0 ? null : Math.round(total / count)
}
