import {
  getFolders,
  listAvailableFolders,
  listFolderConsumers,
  putFolders,
} from '@roost/contracts/agents/folders'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Folders } from './service.ts'

export function folderRoutes(folders: Folders, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(getFolders, async (call) => folders.of(await agentOf(call), call)),
    agentRoute(putFolders, async (call) => {
      call.request.note({ ...call.body })
      return folders.change(await agentOf(call), call.body, call)
    }),
    agentRoute(listAvailableFolders, async (call) => {
      const agent = await agentOf(call)
      const available_folders = await folders.available(agent, call)
      return { agent_name: agent.name, available_folders, count: available_folders.length }
    }),
    agentRoute(listFolderConsumers, async (call) => {
      const agent = await agentOf(call)
      const consumers = await folders.consumers(agent, call)
      return { source_agent: agent.name, consumers, count: consumers.length }
    }),
  ]
}
