/**
 * Spend caps: what an agent may spend on models, per day and per run. Owns the table `spend_caps`. Once
 * metered spend reaches a cap, no further model request starts. The broker asks before it sends a request.
 */
export { spendCapRoutes } from './routes.ts'
export { type AttemptSpending, createSpendCaps, type SpendCaps } from './service.ts'
