/**
 * The addresses that may sign in by e-mail, each with the role of a new account. An address is listed once,
 * and a removal takes effect at the next sign-in. Independent of accounts and sessions.
 */
export { allowListRoutes } from './routes.ts'
export { type AllowList, createAllowList } from './service.ts'
