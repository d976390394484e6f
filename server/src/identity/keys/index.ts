/**
 * MCP keys. A key is shown once and stored as a hash. It never exceeds its owner's rights, and stops working
 * with the next request after it is revoked. Routes per scope are defined in `access`, the key of an agent
 * is handed over by the agents area.
 */
export { keyRoutes } from './routes.ts'
export { createKeys, type KeySummary, type Keys, type KeysDeps } from './service.ts'
