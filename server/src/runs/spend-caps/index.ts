/**
 * Spend caps: what an agent may spend on models, in a day and in one run.
 *
 * Owns the table `spend_caps`. Promises that no model request is begun once a cap is reached, by what was metered
 * until then. Refuses to know how a request is made: the broker asks before it sends one.
 */
export { spendCapRoutes } from './routes.ts'
export { createSpendCaps, type SpendCaps } from './service.ts'
