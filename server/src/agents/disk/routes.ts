import { getAgentDisk, getInternalDisk, putAgentDisk } from '@roost/contracts/agents/disk'
import { agentRoute, type Route, route } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Disk } from './service.ts'

export function diskRoutes(disk: Disk, agentRecords: Pick<AgentRecords, 'byId' | 'byName'>): Route[] {
  return [
    agentRoute(getAgentDisk, async ({ agent }) => disk.view(await requireAgent(agentRecords, agent.id))),
    route(putAgentDisk, async ({ params, body, request }) => {
      request.note({ ...body })
      const agent = await agentRecords.byName(params.name)
      if (!agent) throw new Fault('agent_not_found')
      return disk.setQuota(agent, body.quota_bytes)
    }),
  ]
}

/** For the command line, on the internal listener. */
export function internalDiskRoutes(disk: Pick<Disk, 'report'>): Route[] {
  return [route(getInternalDisk, () => disk.report())]
}
