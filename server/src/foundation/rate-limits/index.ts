/**
 * Rate limits: how often a subject may do something.
 *
 * Owns the counters `rate:…` in the ephemeral store. Promises that a refusal says when the next attempt is useful.
 * Rules against guessing are enforced in each process when the store is unavailable; the others allow every use.
 */
export { networkOf } from './network.ts'
export { clearFromPlace, type Place, placeName, useFromPlace } from './places.ts'
export { type RateRule, rateRules } from './rules.ts'
export { createRateLimits, type RateLimits } from './service.ts'
