import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { deleteAgent } from '@roost/contracts/agents/registry'
import { addAgentTag, removeAgentTag } from '@roost/contracts/agents/tags'
import type { Client } from '@roost/contracts/client'

/** An action on several agents. */
export type AgentAction = 'start' | 'stop' | 'restart' | 'tags' | 'delete'
export type TagChange = { added: readonly string[]; removed: readonly string[] }

/** Acts on one of several agents. Returns what happened; throws the platform's refusal. */
export async function actOnAgent(
  api: Client,
  action: AgentAction,
  name: string,
  tags: TagChange,
): Promise<string> {
  const params = { name }
  switch (action) {
    case 'start':
      return (await api.call(startAgent, { params })).message
    case 'stop':
      return (await api.call(stopAgent, { params })).message
    case 'restart':
      await api.call(stopAgent, { params })
      await api.call(startAgent, { params })
      return 'Restarted.'
    case 'tags':
      for (const tag of tags.added) await api.call(addAgentTag, { params: { name, tag } })
      for (const tag of tags.removed) await api.call(removeAgentTag, { params: { name, tag } })
      return 'Tags saved.'
    case 'delete':
      return (await api.call(deleteAgent, { params })).message
  }
}
