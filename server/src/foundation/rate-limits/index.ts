import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { RateRule } from './rules.ts'
import { createWindows } from './windows.ts'

export { type RateRule, rateRules } from './rules.ts'

/** Bounds how often somebody may do something. A refusal says when the next try is worth it. */
export type RateLimits = {
  /** Counts one use. Throws the rule's refusal, with `retry_after_seconds`, when the limit is passed. */
  use(rule: RateRule, subject: string): Promise<void>
  /** Throws like `use` when the limit is used up, and counts nothing. */
  check(rule: RateRule, subject: string): Promise<void>
  /** The subject starts anew. */
  clear(rule: RateRule, subject: string): Promise<void>
}

export function createRateLimits(deps: {
  ephemeral: Pick<Ephemeral, 'count' | 'peek' | 'remove'>
  clock: Pick<Clock, 'now'>
}): RateLimits {
  const { ephemeral, clock } = deps
  const ownWindows = createWindows(clock)

  /** What `ask` answers; without the store, what this process knows, or null: let through. */
  const orOwn = async <T>(rule: RateRule, ask: () => Promise<T>, own: () => T): Promise<T | null> => {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof EphemeralDown)) throw error
      return rule.whenDown === 'process' ? own() : null
    }
  }

  return {
    async use(rule, subject) {
      const key = keyOf(rule, subject)
      const window = await orOwn(
        rule,
        () => ephemeral.count(key, rule.windowSeconds),
        () => ownWindows.count(key, rule.windowSeconds),
      )
      if (window && window.count > rule.limit) throw refusal(rule, window.resetsInSeconds)
    },
    async check(rule, subject) {
      const key = keyOf(rule, subject)
      const count = await orOwn(
        rule,
        () => ephemeral.peek(key),
        () => ownWindows.peek(key),
      )
      // The store does not say how long the window still is: at most as long as a whole one.
      if (count !== null && count >= rule.limit) throw refusal(rule, rule.windowSeconds)
    },
    async clear(rule, subject) {
      const key = keyOf(rule, subject)
      ownWindows.remove(key)
      await orOwn(
        rule,
        () => ephemeral.remove(key),
        () => undefined,
      )
    },
  }
}

function keyOf(rule: RateRule, subject: string): string {
  return `rate:${rule.name}:${subject}`
}

function refusal(rule: RateRule, seconds: number): Fault {
  return new Fault(rule.refusal ?? 'rate_limited', undefined, { retry_after_seconds: seconds })
}
