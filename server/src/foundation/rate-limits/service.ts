import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import { networkOf } from './network.ts'
import type { RateRule } from './rules.ts'

export type RateLimits = {
  /** Counts one use. Throws the rule's refusal, with `retry_after_seconds`, when the limit is exceeded. */
  use(rule: RateRule, subject: string): Promise<void>
  /** Throws like `use` when no use is left; counts nothing. */
  check(rule: RateRule, subject: string): Promise<void>
  /** Resets the subject's counter. */
  clear(rule: RateRule, subject: string): Promise<void>
}

export function createRateLimits(deps: {
  ephemeral: Pick<Ephemeral, 'count' | 'peek' | 'remove'>
  clock: Pick<Clock, 'now'>
}): RateLimits {
  const { ephemeral, clock } = deps
  const processWindows = createWindows(clock)

  /** Uses the windows of this process when the store is down; null for rules that then allow every use. */
  const orInProcess = async <T>(
    rule: RateRule,
    inStore: () => Promise<T>,
    inProcess: () => T,
  ): Promise<T | null> => {
    try {
      return await inStore()
    } catch (error) {
      if (!(error instanceof EphemeralDown)) throw error
      return rule.whenDown === 'process' ? inProcess() : null
    }
  }

  return {
    async use(rule, subject) {
      const key = keyOf(rule, subject)
      const window = await orInProcess(
        rule,
        () => ephemeral.count(key, rule.windowSeconds),
        () => processWindows.count(key, rule.windowSeconds),
      )
      if (window && window.count > rule.limit) throw refusal(rule, window.resetsInSeconds)
    },
    async check(rule, subject) {
      const key = keyOf(rule, subject)
      const count = await orInProcess(
        rule,
        () => ephemeral.peek(key),
        () => processWindows.peek(key),
      )
      // The store does not report the remaining time, which is at most one whole window.
      if (count !== null && count >= rule.limit) throw refusal(rule, rule.windowSeconds)
    },
    async clear(rule, subject) {
      const key = keyOf(rule, subject)
      processWindows.remove(key)
      await orInProcess(
        rule,
        () => ephemeral.remove(key),
        () => undefined,
      )
    },
  }
}

function keyOf(rule: RateRule, subject: string): string {
  return `rate:${rule.name}:${rule.perClient ? networkOf(subject) : subject}`
}

function refusal(rule: RateRule, seconds: number): Fault {
  return new Fault(rule.refusal ?? 'rate_limited', undefined, { retry_after_seconds: seconds })
}

type Windows = {
  count(key: string, windowSeconds: number): { count: number; resetsInSeconds: number }
  peek(key: string): number
  remove(key: string): void
}

/** Bounds memory when somebody guesses many names. The oldest windows are removed first. */
const maxWindows = 50_000

/** Fixed windows in the memory of this process, used while the shared store is unavailable. */
function createWindows(clock: Pick<Clock, 'now'>): Windows {
  const windows = new Map<string, { count: number; endsAt: number }>()
  const now = () => clock.now().getTime()
  const live = (key: string) => {
    const window = windows.get(key)
    if (window && window.endsAt > now()) return window
    windows.delete(key)
    return null
  }
  return {
    count(key, windowSeconds) {
      const window = live(key) ?? { count: 0, endsAt: now() + windowSeconds * 1000 }
      window.count += 1
      windows.set(key, window)
      const [oldest] = windows.keys()
      if (windows.size > maxWindows && oldest !== undefined) windows.delete(oldest)
      return { count: window.count, resetsInSeconds: Math.max(1, Math.ceil((window.endsAt - now()) / 1000)) }
    },
    peek: (key) => live(key)?.count ?? 0,
    remove: (key) => void windows.delete(key),
  }
}
