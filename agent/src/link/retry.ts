/** Longest wait between two attempts to reach the platform, in milliseconds: what an agent adds to its return. */
const longest = 3_000
/** Longest wait of a program that is not wanted. */
const longestRefused = 15_000
const quick = 500
/** How many attempts stay quick: a platform that restarts is back within this. */
const quickAttempts = 30

/**
 * Milliseconds to wait before attempt number `attempt` (from 1) after the link went away. The first thirty
 * follow each other within half a second, so that a restart of the platform heals about as fast as it is;
 * then the waits double to 3 s: a platform that was away for long, or was ended again while it started, has its
 * agents within seconds, too. `random` spreads agents over the half below, so that a fleet does not
 * dial in step.
 */
export function retryDelay(attempt: number, random: number): number {
  const doublings = Math.max(0, attempt - quickAttempts)
  const ceiling = Math.min(longest, quick * 2 ** Math.min(doublings, 10))
  return Math.round(ceiling * (0.5 + random / 2))
}

/** Another program with the same key took the link, or the key is refused: dialling quickly would not help. */
export function refusedDelay(random: number): number {
  return Math.round(longestRefused * (0.5 + random / 2))
}
