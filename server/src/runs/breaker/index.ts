/**
 * Breakers: when an agent's runs keep being refused by its provider, and when its program cannot be asked.
 *
 * The dispatch breaker refuses new runs while it is open, and fails what waits when it opens; the transport
 * breaker only marks the agent unreachable. Owns the table `breakers`: what they remember is shared by every
 * process of the platform and outlives a restart, since a provider that refuses a key does so afterwards too.
 * States are read off the clock, so that nothing has to run for a breaker to become half open.
 * Refuses to know how runs come about: `dispatch` asks it in the transaction that takes a run in.
 */
export { createDispatchBreaker, type DispatchBreaker, type DispatchBreakerDeps } from './dispatch-breaker.ts'
export { breakerRoutes } from './routes.ts'
export { type Breakers, createBreakers } from './service.ts'
export { createTransportBreaker, type TransportBreaker } from './transport-breaker.ts'
