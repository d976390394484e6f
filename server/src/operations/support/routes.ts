import { getSupportState } from '@roost/contracts/operations/support'
import { type Route, route } from '../../http/route.ts'
import type { Support } from './service.ts'

/** For the internal listener. */
export function supportRoutes(support: Support): Route[] {
  return [route(getSupportState, () => support.state())]
}
