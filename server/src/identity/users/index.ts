/**
 * The accounts of people: names, addresses, roles. A user name or address belongs to one account. Setup creates
 * one first admin, the last usable admin cannot be removed, and a change applies to the next request.
 * Independent of authentication: passwords pass through as hashes.
 */
export { createPeople, type People } from './people.ts'
export { peopleRoutes } from './people-routes.ts'
export { userRoutes } from './routes.ts'
export { callerUser, createUsers, firstAdminName, type Proof, type Users, userView } from './service.ts'
export type { Account } from './store.ts'
