import {
  addAllowListEntry,
  deleteAllowListEntry,
  listAllowListEntries,
} from '@roost/contracts/identity/allow-list'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { AllowList } from './service.ts'

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
