import type { Log } from './log.ts'

export type Streak = {
  failed(error: unknown): void
  /** It works: says so when it did not before. */
  worked(): void
}

/**
 * For what is tried again every second or so while something is away: told when it begins to fail, again when it
 * fails in another way, and when it is over. What comes in between is for `debug`.
 */
export function createStreak(
  log: Pick<Log, 'debug' | 'info' | 'warn'>,
  words: { failing: string; over: string },
): Streak {
  const told = new Set<string>()
  let failures = 0
  return {
    failed(error) {
      failures += 1
      const kind = kindOf(error)
      if (told.has(kind)) {
        log.debug({ err: error }, words.failing)
        return
      }
      told.add(kind)
      log.warn({ err: error }, `${words.failing}; it is tried again and again, which is not told each time`)
    },
    worked() {
      if (failures > 0) log.info({ failures }, words.over)
      failures = 0
      told.clear()
    },
  }
}

/** Not its words, which may name a time or a port. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return `${error.name} ${'code' in error ? String(error.code) : ''}`
}
