/**
 * Calls: an agent calls somebody by telephone, and its voice speaks with whoever answers.
 *
 * Owns the tables `call_bindings`, `calls` and `call_lines`. A call is an execution that the platform itself
 * carries: it runs while the call goes on and ends with it, whatever happens. Promises that the day's cap and the
 * labels hold for any number of requests at once, that a call rings once for each idempotency key, and that nothing
 * hangs: each state of a call has a deadline, and whoever carries one puts it off. Refuses to know the provider's
 * protocols, which are the telephony port's, and the model that speaks, which is the voice port's.
 */
export { callRoutes, callSocketRoutes } from './routes.ts'
export { type Calls, type CallsDeps, createCalls } from './service.ts'
