/** `unless stopped`, with a bound: a container that keeps ending is left alone in the end. */
export type RestartPolicy = {
  /** This many ends by itself within the window, and it stays ended. */
  maxExits: number
  windowSeconds: number
  /** Wait before the first restart; doubles with each quick end after it, up to a minute. */
  firstDelayMs: number
}

export const defaultRestartPolicy: RestartPolicy = { maxExits: 5, windowSeconds: 600, firstDelayMs: 100 }

/** A run of this length counts as sound: the next wait is the first one again. */
const soundRunMs = 10_000

export type Run = { startedMs: number; endedMs: number }

/** Milliseconds to wait before the next start, null to leave the container ended. `runs` is oldest first and ends now. */
export function restartDelayMs(runs: Run[], policy: RestartPolicy): number | null {
  const now = runs.at(-1)?.endedMs ?? 0
  const recent = runs.filter((run) => now - run.endedMs < policy.windowSeconds * 1000)
  if (recent.length >= policy.maxExits) return null
  const lastSound = runs.findLastIndex((run) => run.endedMs - run.startedMs >= soundRunMs)
  const quickEnds = runs.length - 1 - lastSound
  return Math.min(60_000, policy.firstDelayMs * 2 ** Math.max(0, quickEnds - 1))
}
