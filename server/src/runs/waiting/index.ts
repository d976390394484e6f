/**
 * Waiting: the one way in which a request stays with its run until the run has ended.
 *
 * Promises that whoever waits is told how the run ended, by its own status, that waiting is bounded, and that
 * the request's idempotency key is left as the end demands. Refuses to know what the reply of a finished run
 * looks like: that is the business of who asked for it.
 */
export { preferredWaitMs, prefersMinimal } from './prefer.ts'
export { type Asking, createWait, errorOf, type Wait } from './wait.ts'
