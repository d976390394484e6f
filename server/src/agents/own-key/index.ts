/**
 * Own key: with what an agent comes to the platform.
 *
 * Tells how the agent's key is, looks into its container for the keys that are there, and gives it another one.
 * Promises that the text of a key is in no answer and that the key before stops in the moment in which the new
 * one is written. Refuses to know what an agent may do with it.
 */
export { ownKeyRoutes } from './routes.ts'
export { createOwnKey, type OwnKey, type OwnKeyDeps } from './service.ts'
