/**
 * Sessions of people: the first password, sign-in in one or two steps, session tokens, sign-out. A token is
 * refused from the first request after its session ends, and password guesses are limited. Access rights are
 * defined in `access`.
 */
export { type Regained, regainAdmin } from './regain.ts'
export { knownDevice, sessionRoutes } from './routes.ts'
export type { SecondStep, SignInOutcome } from './second-step.ts'
export { createSessions, type EndedSessions, type Sessions, type SessionsDeps } from './service.ts'
export type { AccessToken, Credentials } from './sign-in.ts'
export { openSigningKeys, type SigningKeyDeps, type SigningKeys } from './signing-key.ts'
