/**
 * Sessions of people: setting the first password, signing in with one step or two, session tokens, signing out. Promises that a
 * token is refused from the next request after its end, by whatever it ended, and that guessing passwords
 * is slow. Refuses to know what a session may do (access).
 */
export { type Regained, regainAdmin } from './regain.ts'
export { sessionRoutes } from './routes.ts'
export type { Entrance, SecondStep } from './second-step.ts'
export { createSessions, type Sessions, type SessionsDeps } from './service.ts'
export type { AccessToken, Credentials } from './sign-in.ts'
export { openSigningKeys, type SigningKeyDeps, type SigningKeys } from './signing-key.ts'
