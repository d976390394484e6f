import {
  getSystemAgent,
  reinitializeSystemAgent,
  restartSystemAgent,
} from '@roost/contracts/operations/system-agent'
import { type Route, route } from '../../http/route.ts'
import type { SystemAgent } from './service.ts'

export function systemAgentRoutes(systemAgent: SystemAgent): Route[] {
  return [
    route(getSystemAgent, () => systemAgent.status()),
    route(restartSystemAgent, () => systemAgent.restart()),
    route(reinitializeSystemAgent, () => systemAgent.reinitialize()),
  ]
}
