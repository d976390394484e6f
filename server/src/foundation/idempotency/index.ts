/**
 * Idempotency: requests that carry an `Idempotency-Key` run once.
 *
 * Owns the table `idempotency_claims`. The first request runs; later ones with its key get its reply, or 409 while it
 * runs. Promises that the claim is written in the transaction that accepts the work. When the store fails, requests
 * run unprotected: a request done twice is better than one refused.
 */
export { type Claim, ClaimTaken, createdResourceGone, type Reply, unprotected } from './claim.ts'
export { type Scope, scopeOf } from './scope.ts'
export { createIdempotency, type Entered, type Idempotency, type Opened } from './service.ts'
export { createWorkStates, type Work, type WorkState, type WorkStateOf, type WorkStates } from './work.ts'
