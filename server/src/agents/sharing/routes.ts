import {
  changeShare,
  listAccess,
  listShares,
  shareAgent,
  unshareAgent,
} from '@roost/contracts/agents/sharing'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Sharing } from './service.ts'
import { sharesOf } from './view.ts'

export function sharingRoutes(sharing: Sharing, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(shareAgent, async (call) => {
      const { email, access } = call.body
      call.request.note({ shared_with: email, access })
      return sharing.share(await agentOf(call), { email, access }, call.caller)
    }),
    agentRoute(changeShare, async (call) => {
      const email = call.params.email.trim().toLowerCase()
      const { access } = call.body
      call.request.note({ shared_with: email.slice(0, 254), access })
      return sharing.change(await agentOf(call), { email, access })
    }),
    agentRoute(unshareAgent, async (call) => {
      const email = call.params.email.trim().toLowerCase()
      call.request.note({ removed_user: email.slice(0, 254) })
      const agent = await agentOf(call)
      await sharing.unshare(agent, email)
      return { message: `Agent ${agent.name} is no longer shared with ${email}.` }
    }),
    agentRoute(listShares, async (call) => sharesOf(await agentOf(call))),
    agentRoute(listAccess, async (call) => sharing.access(await agentOf(call))),
  ]
}
