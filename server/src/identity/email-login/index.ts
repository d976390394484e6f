/**
 * Sign-in by mailed code, and access requests. Neither a response nor its timing reveals whether an address
 * may sign in. Independent of the format of sessions.
 *
 * Six-digit codes work once, for ten minutes and until five wrong tries. The database stores only a keyed hash.
 * Other features send codes too; `purpose` separates them from one another.
 */
export { codeMail } from './code-mail.ts'
export { createEmailCodes, type EmailCodes } from './codes.ts'
export { createOutgoing, type Outgoing } from './outgoing.ts'
export { emailLoginRoutes } from './routes.ts'
export { createEmailLogin, type EmailLogin } from './service.ts'
