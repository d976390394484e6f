import { getAgentKey, regenerateAgentKey, verifyAgentKey } from '@roost/contracts/agents/mcp-key'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { OwnKey } from './service.ts'

export function ownKeyRoutes(ownKey: OwnKey, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(getAgentKey, async (call) => ownKey.health(await agentOf(call))),
    agentRoute(verifyAgentKey, async (call) => {
      const found = await ownKey.verify(await agentOf(call), call.request.signal)
      call.request.note({ verdict: found.verdict })
      return found
    }),
    agentRoute(regenerateAgentKey, async (call) => {
      const renewed = await ownKey.regenerate(await agentOf(call))
      const { key_id, superseded_key_id } = renewed
      call.request.note({ key_id, superseded_key_id })
      return { agent_name: call.agent.name, ...renewed }
    }),
  ]
}
