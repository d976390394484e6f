/**
 * Calls: an agent calls a person by telephone, and its voice speaks with them.
 * Owns the tables `call_bindings`, `calls` and `call_lines`. Each call is an execution that the platform itself runs
 * and that ends with the call. Daily caps, labels and idempotency keys hold under concurrency. Every state has a
 * deadline, which the process that carries the call renews. The telephony and voice ports know the providers'
 * protocols.
 */

export { sealedColumns } from './account.ts'
export { callRoutes, callSocketRoutes } from './routes.ts'
export { type Calls, type CallsDeps, createCalls } from './service.ts'
