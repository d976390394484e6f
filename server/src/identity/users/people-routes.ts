import { listUsers, setUserRole, suspendUser, unsuspendUser } from '@roost/contracts/identity/people'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { People } from './people.ts'

export function peopleRoutes(people: People): Route[] {
  return [
    signedInRoute(listUsers, () => people.list()),
    signedInRoute(setUserRole, ({ caller, params, body, request }) => {
      request.note({ username: params.username.slice(0, 254), role: body.role })
      return people.setRole(caller, params.username, body.role)
    }),
    signedInRoute(suspendUser, ({ caller, params, request }) => {
      request.note({ username: params.username.slice(0, 254) })
      return people.suspend(caller, params.username)
    }),
    signedInRoute(unsuspendUser, ({ caller, params, request }) => {
      request.note({ username: params.username.slice(0, 254) })
      return people.unsuspend(caller, params.username)
    }),
  ]
}
