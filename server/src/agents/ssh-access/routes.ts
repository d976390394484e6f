import { grantSshAccess } from '@roost/contracts/agents/settings'
import { agentRoute, type Route } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { AgentSsh } from './service.ts'

export function sshAccessRoutes(
  ssh: Pick<AgentSsh, 'grant'>,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  return [
    agentRoute(grantSshAccess, async ({ agent, body, request }) => {
      const granted = await ssh.grant(await requireAgent(agentRecords, agent.id), body, request.signal)
      request.note({ expires_at: granted.expires_at, own_key: !granted.private_key })
      return granted
    }),
  ]
}
