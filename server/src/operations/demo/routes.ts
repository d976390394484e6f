import { getDemo, removeDemo } from '@roost/contracts/operations/demo'
import { type Route, route } from '../../http/route.ts'
import type { Demo } from './service.ts'

export function demoRoutes(demo: Demo): Route[] {
  return [
    route(getDemo, () => demo.status()),
    route(removeDemo, async () => ({ removed_agents: await demo.remove() })),
  ]
}
