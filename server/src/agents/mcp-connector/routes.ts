import { createConnectorKey, getConnector, putConnector } from '@roost/contracts/agents/connector'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { McpConnectors } from './service.ts'

export function mcpConnectorRoutes(
  connectors: McpConnectors,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(getConnector, async (call) => connectors.of(await agentOf(call))),
    agentRoute(putConnector, async (call) => {
      call.request.note({ ...call.body })
      return connectors.change(await agentOf(call), call.body)
    }),
    agentRoute(createConnectorKey, async (call) => {
      const agent = await agentOf(call)
      const minted = await connectors.mint(agent, call.caller)
      call.request.note({ key_id: minted.key_id })
      return { agent_name: agent.name, api_key: minted.key, ...minted }
    }),
  ]
}
