/**
 * Run context: an agent's data that runs need, cached in memory.
 *
 * Provides limits, model, instructions, callable agents and the secrets that transcripts must not contain.
 * Cached data may be seconds old. Whether an agent may start runs is read in the caller's transaction.
 */
export { createRunContextCache, type RunContextCache } from './cache.ts'
export { createRunContexts, type RunContext, type RunContexts } from './service.ts'
