import { Buffer } from 'node:buffer'
import { isOrganizationalTag } from '@roost/contracts/agents/agent'
import type { SignedIn } from '../../identity/access/index.ts'
import type { AgentAccess } from '../access/index.ts'
import type { AgentRecords } from '../records/index.ts'
import { wantedTags } from './rules.ts'
import { rowOf } from './view.ts'

export type AgentList = {
  /** The reply of the list as JSON bytes. */
  bytes(caller: SignedIn, tags: string | undefined): Promise<Buffer>
  /** Tags of the agents that the caller can reach, the most used first. */
  tags(caller: SignedIn): Promise<{ tag: string; count: number }[]>
}

export type AgentListDeps = {
  agentRecords: Pick<AgentRecords, 'version'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}

/** Viewers remembered at once; the longest unasked is forgotten first. */
const maxRemembered = 500

/**
 * The list is asked for all the time and changes seldom: for each viewer its bytes are kept until any agent
 * changes.
 */
export function createAgentList({ agentRecords, agentAccess }: AgentListDeps): AgentList {
  const remembered = new Map<string, { version: number; bytes: Buffer }>()

  async function render(caller: SignedIn, tags: readonly string[]): Promise<Buffer> {
    const reached = await agentAccess.accessibleAgents(caller)
    const rows = reached
      .filter(({ agent }) => tags.length === 0 || agent.tags.some((tag) => tags.includes(tag)))
      .map(({ agent, relation }) => rowOf(agent, relation))
    return Buffer.from(JSON.stringify(rows))
  }

  return {
    async bytes(caller, query) {
      const tags = wantedTags(query)
      const key = viewerOf(caller)
      // What an agent is permitted to see changes without any agent changing.
      if (key === null || tags.length > 0) return render(caller, tags)
      const version = await agentRecords.version()
      const held = remembered.get(key)
      if (held?.version === version) return held.bytes
      const bytes = await render(caller, tags)
      remembered.delete(key)
      remembered.set(key, { version, bytes })
      const [oldest] = remembered.keys()
      if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
      return bytes
    },

    async tags(caller) {
      const counts = new Map<string, number>()
      const showsAll = caller.user.role === 'admin' && viewerOf(caller) !== null
      for (const { agent } of await agentAccess.accessibleAgents(caller)) {
        for (const tag of agent.tags) {
          if (showsAll || !isOrganizationalTag(tag)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
        }
      }
      return [...counts]
        .map(([tag, count]) => ({ tag, count }))
        .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    },
  }
}

/** Everything about a caller that decides what it sees; null for keys that are bound to an agent. */
function viewerOf(caller: SignedIn): string | null {
  const { id, role, email } = caller.user
  if (caller.kind === 'session') return JSON.stringify([id, role, email, null])
  const { scope } = caller.key
  return scope === 'agent' || scope === 'connector' ? null : JSON.stringify([id, role, email, scope])
}
