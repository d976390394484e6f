/**
 * Webhooks: addresses through which external systems fire a schedule.
 *
 * Owns the columns of `schedules` that begin with `webhook_`. A token is stored as a hash for lookups and sealed for
 * display; a secret is shown once. A revoked or rotated address is indistinguishable from an unknown one. A call
 * repeated with the same key or body fires once. The function that fires is injected.
 */
export { type CallDeps, createCallWebhook } from './call.ts'
export { webhookRoutes } from './routes.ts'
export { createManageWebhooks, type ManageDeps, sealedColumns } from './service.ts'
