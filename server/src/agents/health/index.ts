/**
 * Health: whether an agent responds and what resources it uses.
 *
 * Owns the last heartbeat and the last sample of each agent, in memory and shared between processes. No read
 * calls the container engine. The activity of runs is passed in.
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
