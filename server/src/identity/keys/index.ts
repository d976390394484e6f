/**
 * MCP keys: minting, ending, recognising. Promises that a key is shown once and kept as its hash, that it
 * never may more than its owner, and that the next request after an end is refused. Refuses to know which
 * routes a scope reaches (access) and how an agent gets its key (agents).
 */
export { keyRoutes } from './routes.ts'
export { createKeys, type KeyFacts, type Keys, type KeysDeps } from './service.ts'
