import { getInternalInvariants, getInvariants } from '@roost/contracts/operations/invariants'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { Invariants } from './service.ts'

export function invariantRoutes(invariants: Invariants): Route[] {
  return [signedInRoute(getInvariants, (call) => invariants.check(call.request.signal))]
}

/** For the internal listener. */
export function internalInvariantRoutes(invariants: Invariants): Route[] {
  return [route(getInternalInvariants, (call) => invariants.check(call.request.signal))]
}
