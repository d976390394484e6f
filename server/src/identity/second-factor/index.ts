/**
 * The second factor of accounts: authenticator codes, recovery codes, and the challenge between the first
 * step and a session. A code works once, guesses are limited per challenge and account, and secrets are
 * encrypted. Independent of passwords and sessions: a challenge returns the proof it was made from.
 */
export { removeFactor, sealedColumns } from './factors.ts'
export { factorRoutes } from './routes.ts'
export { type Answerer, createSecondFactor, type SecondFactor, type SecondFactorDeps } from './service.ts'
