/** Longest delay between two attempts to reach the platform, in milliseconds. */
const maxDelayMs = 3_000
/** Longest delay after the platform refused this program. */
const maxRefusedDelayMs = 15_000
const quickDelayMs = 500
/** Attempts without longer delays: a restarting platform is back within them. */
const quickAttempts = 30

/**
 * Returns the delay in milliseconds before attempt `attempt` (from 1). Thirty quick attempts cover a restart;
 * later delays double up to 3 s, so agents also return soon after a long outage. `random` spreads each delay
 * over its upper half, so that agents do not connect in step.
 */
export function retryDelay(attempt: number, random: number): number {
  const doublings = Math.max(0, attempt - quickAttempts)
  const ceiling = Math.min(maxDelayMs, quickDelayMs * 2 ** Math.min(doublings, 10))
  return Math.round(ceiling * (0.5 + random / 2))
}

/** Delay after another program took the link or the key was refused: quick retries would not help. */
export function refusedDelay(random: number): number {
  return Math.round(maxRefusedDelayMs * (0.5 + random / 2))
}
