import { listAgents } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import type { Caller } from './keys.ts'
import type { Tool } from './tool.ts'
import { chatWith, type ExposedAgent } from './tools/chat.ts'

export type Exposed = {
  /** Returns the tools of the published agents that this caller can access. */
  toolsFor(caller: NonNullable<Caller>): Promise<readonly Tool[]>
  /** Reloads the published agents; true if they changed. A failed attempt keeps the previous list. */
  refresh(): Promise<boolean>
}

/** Cache time of a caller's accessible agents. The API checks each call again. */
const accessCacheSeconds = 20
const maxEntries = 10_000

/** Agents published as tools of their own (`chat_with_<slug>`). */
export function createExposed(deps: {
  /** Loads the published agents of the whole platform. */
  load(): Promise<readonly ExposedAgent[]>
  clock: { now(): number }
  onLost(error: unknown): void
}): Exposed {
  const { clock } = deps
  let tools = new Map<string, Tool>()
  let loaded = ''
  const accessible = new Map<string, { until: number; names: Promise<ReadonlySet<string>> }>()

  function accessibleTo({ key, api }: NonNullable<Caller>): Promise<ReadonlySet<string>> {
    const now = clock.now()
    const cached = accessible.get(key.key_id)
    if (cached && cached.until > now) return cached.names
    const names = namesOf(api)
    if (accessible.size >= maxEntries) accessible.clear()
    accessible.set(key.key_id, { until: now + accessCacheSeconds * 1000, names })
    names.catch(() => accessible.delete(key.key_id))
    return names
  }

  return {
    async toolsFor(caller) {
      if (tools.size === 0 || caller.key.scope === 'connector') return []
      const names = await accessibleTo(caller)
      return [...tools].filter(([agent]) => names.has(agent)).map(([, tool]) => tool)
    },
    async refresh() {
      try {
        const agents = await deps.load()
        const latest = JSON.stringify(agents)
        if (latest === loaded) return false
        loaded = latest
        // Clients list the tools right after a change, and cached results do not contain new names.
        accessible.clear()
        tools = new Map(agents.map((agent) => [agent.agent_name, chatWith(agent)]))
        return true
      } catch (error) {
        deps.onLost(error)
        return false
      }
    },
  }
}

async function namesOf(api: Client): Promise<ReadonlySet<string>> {
  return new Set((await api.call(listAgents, {})).map(({ name }) => name))
}
