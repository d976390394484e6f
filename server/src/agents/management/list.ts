import { Buffer } from 'node:buffer'
import { isOrganizationalTag } from '@roost/contracts/agents/agent'
import type { SignedIn } from '../../identity/access/index.ts'
import type { AgentAccess } from '../access/index.ts'
import type { AgentRecords } from '../records/index.ts'
import { wantedTags } from './rules.ts'
import { rowOf } from './view.ts'

export type AgentList = {
  /** The list's reply as JSON bytes. */
  bytes(caller: SignedIn, tags: string | undefined): Promise<Buffer>
  /** Tags of the accessible agents, most used first. */
  tags(caller: SignedIn): Promise<{ tag: string; count: number }[]>
}

export type AgentListDeps = {
  agentRecords: Pick<AgentRecords, 'version'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}

/** Cached viewers; the least recently rendered is dropped first. */
const maxCachedViewers = 500

/** The list is read often and changes rarely, so the bytes are cached per viewer until any agent changes. */
export function createAgentList({ agentRecords, agentAccess }: AgentListDeps): AgentList {
  const cache = new Map<string, { version: number; bytes: Buffer }>()

  async function render(caller: SignedIn, tags: readonly string[]): Promise<Buffer> {
    const accessible = await agentAccess.accessibleAgents(caller)
    const rows = accessible
      .filter(({ agent }) => tags.length === 0 || agent.tags.some((tag) => tags.includes(tag)))
      .map(({ agent, relation }) => rowOf(agent, relation))
    return Buffer.from(JSON.stringify(rows))
  }

  return {
    async bytes(caller, query) {
      const tags = wantedTags(query)
      const key = viewerOf(caller)
      // Not cached for agent-bound keys: their permissions change without a change of an agent.
      if (key === null || tags.length > 0) return render(caller, tags)
      const version = await agentRecords.version()
      const cached = cache.get(key)
      if (cached?.version === version) return cached.bytes
      const bytes = await render(caller, tags)
      cache.delete(key)
      cache.set(key, { version, bytes })
      const [oldest] = cache.keys()
      if (cache.size > maxCachedViewers && oldest !== undefined) cache.delete(oldest)
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

/** The properties of a caller that determine its view; null for agent-bound keys. */
function viewerOf(caller: SignedIn): string | null {
  const { id, role, email } = caller.user
  if (caller.kind === 'session') return JSON.stringify([id, role, email, null])
  const { scope } = caller.key
  return scope === 'agent' || scope === 'connector' ? null : JSON.stringify([id, role, email, scope])
}
