import { deleteAvatar, getAvatar, putAvatar } from '@roost/contracts/agents/avatar'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import { type Agent, type AgentRecords, requireAgent } from '../records/index.ts'
import type { Avatars } from './service.ts'

/** Prevents script execution, whatever the bytes contain. */
export const imageHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  // A page that opens after a change must not show the picture from before it.
  'cache-control': 'private, no-cache',
}

export function avatarRoutes(avatars: Avatars, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  const locationOf = ({ name }: Agent) => ({ agent_name: name, avatar_url: avatarUrl(name) })
  return [
    agentRoute(getAvatar, async (call) => {
      const { mediaType, bytes } = await avatars.of(await agentOf(call))
      return answer(bytes, { headers: { ...imageHeaders, 'content-type': mediaType } })
    }),
    agentRoute(putAvatar, async (call) => {
      const agent = await agentOf(call)
      await avatars.put(agent, call.body)
      return locationOf(agent)
    }),
    agentRoute(deleteAvatar, async (call) => {
      const agent = await agentOf(call)
      await avatars.remove(agent)
      return locationOf(agent)
    }),
  ]
}

function avatarUrl(agentName: string): string {
  return `/api/agents/${encodeURIComponent(agentName)}/avatar`
}
