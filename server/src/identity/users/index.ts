/**
 * The accounts of people: names, addresses, roles. Promises that a user name or an address belongs to one
 * account, that setup makes one first admin, that there is always an admin who can act, and that a change is
 * seen by the next request. Refuses to know how people prove who they are: passwords pass through as hashes.
 */
export { createPeople, type People } from './people.ts'
export { peopleRoutes } from './people-routes.ts'
export type { Proof } from './proof.ts'
export { userRoutes } from './routes.ts'
export { callerUser, createUsers, firstAdminName, type Users, userView } from './service.ts'
export type { Account } from './store.ts'
