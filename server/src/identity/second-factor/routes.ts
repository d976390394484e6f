import * as endpoints from '@roost/contracts/identity/second-factor'
import { roles } from '@roost/contracts/kit/access'
import { originOf, type Route, route, signedInRoute } from '../../http/route.ts'
import type { SecondFactor } from './service.ts'

/** All routes except the second step of a sign-in, which are routes of sessions. */
export function factorRoutes(factor: SecondFactor): Route[] {
  const policyReply = () => {
    const required = factor.policy.roles()
    return { required_roles: roles.filter((role) => required.includes(role)) }
  }
  return [
    signedInRoute(endpoints.getFactorStatus, ({ caller }) => factor.status(caller.user.id)),
    signedInRoute(endpoints.startFactorEnrolment, ({ caller }) => factor.start(caller.user.id)),
    signedInRoute(endpoints.confirmFactorEnrolment, async ({ caller, body, request }) => ({
      recovery_codes: await factor.confirm(caller.user.id, body.code, originOf(request)),
    })),
    signedInRoute(endpoints.renewRecoveryCodes, async ({ caller, body, request }) => ({
      recovery_codes: await factor.renewRecoveryCodes(caller.user.id, body.code, originOf(request)),
    })),
    signedInRoute(endpoints.disableFactor, async ({ caller, body, request }) => {
      await factor.disable(caller.user.id, body.code, originOf(request))
      return { success: true as const }
    }),
    route(endpoints.getFactorPolicy, async () => policyReply()),
    route(endpoints.putFactorPolicy, async ({ body, request }) => {
      request.note({ required_roles: body.required_roles })
      await factor.policy.set(body.required_roles)
      return policyReply()
    }),
    route(endpoints.resetFactor, async ({ params, request }) => {
      request.note({ username: params.username.slice(0, 254) })
      await factor.reset(params.username)
      return { success: true as const }
    }),
  ]
}
