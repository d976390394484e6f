/**
 * The second factor of accounts: codes of an authenticator app, recovery codes, and the challenge between a
 * first proof and a session. Promises that a code works once, that guessing is bounded for each challenge and
 * each account, and that a secret lies sealed. Refuses to know passwords and sessions: a challenge hands back
 * the proof it was made from.
 */
export { removeFactor } from './factors.ts'
export { factorRoutes } from './routes.ts'
export { createSecondFactor, type OnAccount, type SecondFactor, type SecondFactorDeps } from './service.ts'
