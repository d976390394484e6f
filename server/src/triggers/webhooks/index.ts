/**
 * Webhooks: addresses by which somebody outside fires a schedule.
 *
 * Owns the columns of `schedules` that begin with `webhook_`. Promises that a token is kept as a hash to find
 * it by and sealed to show it, that a secret is shown once, that a revoked or rotated address answers like one
 * that never was, and that a call repeated with the same key or body fires once. Refuses to know what firing
 * takes: that is handed in.
 */
export { type CallDeps, createCallWebhook } from './call.ts'
export { createManageWebhooks, type ManageDeps } from './manage.ts'
export { webhookRoutes } from './routes.ts'
