/**
 * The accounts of people: names, addresses, roles. A user name or address belongs to one account. Setup creates
 * one first admin, the last usable admin cannot be removed, and a change applies to the next request.
 * Independent of authentication: passwords pass through as hashes.
 *
 * Also the allow list: addresses that may sign in by e-mail, each with the role of a new account. An address is
 * listed once, and a removal takes effect at the next sign-in.
 */
export { type AllowList, createAllowList } from './allow-list.ts'
export { createPeople, type OnSuspended, type People } from './people.ts'
export { peopleRoutes } from './people-routes.ts'
export { allowListRoutes, userRoutes } from './routes.ts'
export {
  addressesOf,
  callerUser,
  createUsers,
  firstAdminName,
  type Proof,
  type Users,
  userView,
} from './service.ts'
export type { Account } from './store.ts'
