/**
 * Breakers: detect agents whose provider refuses them, and agents that cannot be reached.
 *
 * The dispatch breaker refuses new runs while it is open, and fails queued ones when it opens. The transport breaker
 * only marks the agent as unreachable. Owns the table `breakers`, so every process and the next start share them. The
 * state follows from the clock, without a background task. `dispatch` asks in the transaction that accepts a run.
 */
export { createDispatchBreaker, type DispatchBreaker, type DispatchBreakerDeps } from './dispatch-breaker.ts'
export { breakerRoutes } from './routes.ts'
export { type Breakers, createBreakers } from './service.ts'
export { createTransportBreaker, type TransportBreaker } from './transport-breaker.ts'
