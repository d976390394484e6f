/**
 * Run context: what a run needs to know about its agent, cached in memory.
 *
 * Answers limits, model, instructions, callable agents and the secrets that transcripts must not show. Cached answers
 * may be seconds old. Whether an agent was told to stop is read in the caller's transaction.
 */
export { createRunContextCache, type RunContextCache } from './cache.ts'
export { createRunContexts, type RunContext, type RunContexts } from './service.ts'
