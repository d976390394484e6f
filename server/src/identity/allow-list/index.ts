/**
 * The addresses that may sign in by e-mail, and the role that each gets at first. Promises that an address
 * stands there once and that a removal acts on the next sign-in. Refuses to know accounts and sessions.
 */
export { allowListRoutes } from './routes.ts'
export { type AllowList, createAllowList } from './service.ts'
