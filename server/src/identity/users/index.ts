/**
 * The accounts of people: names, addresses, roles. Promises that a user name or an address belongs to one
 * account, that setup makes one first admin, and that a change is seen by the next request. Refuses to know
 * how people prove who they are: passwords pass through as hashes.
 */
export { userRoutes } from './routes.ts'
export { callerUser, createUsers, firstAdminName, type Users, userView } from './service.ts'
export type { Account } from './store.ts'
