/**
 * Health: whether an agent lives, and what it uses.
 *
 * Owns the last beat and the last sample of each agent, in memory and shared between processes. Promises
 * that no read asks the container engine. Refuses to know how runs work: their activity is handed in.
 */
export type { BeatState } from './beats.ts'
export { healthRoutes } from './routes.ts'
export type { RunActivity } from './rules.ts'
export {
  type ContextUse,
  createHealth,
  type Health,
  type HealthDeps,
  type ScheduleCounts,
} from './service.ts'
