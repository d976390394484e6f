export type Caps = { daily_micros: number | null; per_run_micros: number | null }

/** Returns the cap that is reached; null when none is. */
export function reachedCap(caps: Caps, spent: { today: number; run: number }): 'daily' | 'run' | null {
  if (caps.per_run_micros !== null && spent.run >= caps.per_run_micros) return 'run'
  if (caps.daily_micros !== null && spent.today >= caps.daily_micros) return 'daily'
  return null
}

/** Start of the UTC day. */
export function dayOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / 86_400_000) * 86_400_000)
}

/** Converts to micro-dollars, at least one: rounding must not turn a small cap into zero. */
export function microsOf(usd: number | null): number | null {
  return usd === null ? null : Math.max(1, Math.round(usd * 1_000_000))
}
