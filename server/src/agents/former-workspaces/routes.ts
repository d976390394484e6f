import {
  discardFormerWorkspace,
  listFormerWorkspaces,
  useFormerWorkspace,
} from '@roost/contracts/agents/former-workspaces'
import { agentRoute, type Route } from '../../http/route.ts'
import type { FormerWorkspaces } from './service.ts'

export function formerWorkspaceRoutes(former: FormerWorkspaces): Route[] {
  return [
    agentRoute(listFormerWorkspaces, ({ agent }) => former.list(agent.id)),
    agentRoute(useFormerWorkspace, ({ agent, params, request }) => {
      request.note({ workspace: params.workspace })
      return former.use(agent.id, params.workspace)
    }),
    agentRoute(discardFormerWorkspace, ({ agent, params, request }) => {
      request.note({ workspace: params.workspace })
      return former.discard(agent.id, params.workspace)
    }),
  ]
}
