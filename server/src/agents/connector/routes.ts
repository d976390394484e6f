import { createConnectorKey, getConnector, putConnector } from '@roost/contracts/agents/connector'
import { agentRoute, type Route } from '../../http/route.ts'
import { type Directory, requireAgent } from '../directory/index.ts'
import type { Connectors } from './service.ts'

export function connectorRoutes(connectors: Connectors, directory: Pick<Directory, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(directory, agent.id)
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
