import {
  addAllowListEntry,
  deleteAllowListEntry,
  listAllowListEntries,
} from '@roost/contracts/identity/allow-list'
import { getMe, setMyEmail } from '@roost/contracts/identity/users'
import { type Route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { AllowList } from './allow-list.ts'
import { type Users, userView } from './service.ts'

/** `isDemo`: answers are scripted, which every page of the web UI tells its user. */
export function userRoutes(users: Pick<Users, 'find' | 'setEmail'>, isDemo = false): Route[] {
  return [
    signedInRoute(getMe, async ({ caller }) => {
      const account = await users.find(caller.user.id)
      // The account was removed after its credential was checked.
      if (!account) throw new Fault('invalid_token')
      return { ...userView(account), ...(isDemo ? { demo: true as const } : {}) }
    }),
    signedInRoute(setMyEmail, async ({ caller, body }) => {
      // Agents are shared with addresses, and this address is unverified. An admin can access every agent anyway;
      // any other user could take over agents shared with another person.
      if (caller.user.role !== 'admin') throw new Fault('admin_required')
      await users.setEmail(caller.user.id, body.email)
      return { success: true as const, email: body.email }
    }),
  ]
}

export function allowListRoutes(allowList: AllowList): Route[] {
  return [
    signedInRoute(listAllowListEntries, () => allowList.list()),
    signedInRoute(addAllowListEntry, ({ caller, body, request }) => {
      request.note({ email: body.email, default_role: body.default_role })
      return allowList.add({ ...body, added_by: caller.user.username })
    }),
    signedInRoute(deleteAllowListEntry, async ({ params, request }) => {
      request.note({ email: params.email.slice(0, 254) })
      await allowList.remove(params.email)
      return { message: 'This e-mail address can no longer sign in.', email: params.email.toLowerCase() }
    }),
  ]
}
