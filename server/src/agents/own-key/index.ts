/**
 * Own key: the key an agent uses for the platform.
 *
 * Reports the key's health, checks the keys in the container's MCP configuration, and replaces the key.
 * Replies never contain a key. The old key is revoked in the transaction that stores the new one.
 */
export { type ReplaceKeyDeps, replaceKey } from './replace.ts'
export { ownKeyRoutes } from './routes.ts'
export { createOwnKey, type OwnKey, type OwnKeyDeps } from './service.ts'
