/**
 * Sign-in by mailed code, and access requests. Neither a response nor its timing reveals whether an address
 * may sign in. Independent of the format of sessions.
 */

export { codeMail } from './code-mail.ts'
export { createOutgoing, type Outgoing } from './outgoing.ts'
export { emailLoginRoutes } from './routes.ts'
export { createEmailLogin, type EmailLogin } from './service.ts'
