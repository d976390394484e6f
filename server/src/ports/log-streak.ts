import type { Log } from './log.ts'

export type Streak = {
  failed(error: unknown): void
  /** Records a success; logs the recovery after failures. */
  worked(): void
}

/**
 * Logging for frequent retries during an outage. Logs the first failure, failures of another kind and the
 * recovery; other failures use `debug`.
 */
export function createStreak(
  log: Pick<Log, 'debug' | 'info' | 'warn'>,
  words: { failing: string; over: string },
): Streak {
  const reportedKinds = new Set<string>()
  let failures = 0
  return {
    failed(error) {
      failures += 1
      const kind = kindOf(error)
      if (reportedKinds.has(kind)) {
        log.debug({ err: error }, words.failing)
        return
      }
      reportedKinds.add(kind)
      log.warn({ err: error }, `${words.failing}; retrying; repeated failures are not logged`)
    },
    worked() {
      if (failures > 0) log.info({ failures }, words.over)
      failures = 0
      reportedKinds.clear()
    },
  }
}

/** Ignores the message, which may contain a time or a port. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return `${error.name} ${'code' in error ? String(error.code) : ''}`
}
