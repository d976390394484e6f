/**
 * Signing in with a code from a mail, and asking to be let in. Promises that nobody learns from an answer, or
 * from how long it takes, whether an address may sign in. Refuses to know what a session is made of.
 */

export { createOutgoing, type Outgoing } from './outgoing.ts'
export { emailLoginRoutes } from './routes.ts'
export { createEmailLogin, type EmailLogin } from './service.ts'
export { codeMail } from './words.ts'
