/** Restarts unless stopped, but not forever. */
export type RestartPolicy = {
  /** After this many unexpected ends within the window the container stays stopped. */
  maxExits: number
  windowSeconds: number
  /** Delay before the first restart; doubles with each quick end, up to a minute. */
  firstDelayMs: number
}

export const defaultRestartPolicy: RestartPolicy = { maxExits: 5, windowSeconds: 600, firstDelayMs: 100 }

/** A run of this length resets the delay. */
const stableRunMs = 10_000

export type Run = { startedMs: number; endedMs: number }

/**
 * Returns milliseconds before the next start, or null to keep the container stopped. `runs` is oldest first
 * and ends now.
 */
export function restartDelayMs(runs: Run[], policy: RestartPolicy): number | null {
  const now = runs.at(-1)?.endedMs ?? 0
  const recent = runs.filter((run) => now - run.endedMs < policy.windowSeconds * 1000)
  if (recent.length >= policy.maxExits) return null
  const lastStable = runs.findLastIndex((run) => run.endedMs - run.startedMs >= stableRunMs)
  const quickEnds = runs.length - 1 - lastStable
  return Math.min(60_000, policy.firstDelayMs * 2 ** Math.max(0, quickEnds - 1))
}
