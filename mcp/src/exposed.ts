import { listAgents } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import type { Caller } from './keys.ts'
import type { Tool } from './tool.ts'
import { chatWith, type ExposedAgent } from './tools/chat.ts'

export type Exposed = {
  /** The tools of single agents that this caller can reach. */
  toolsFor(caller: NonNullable<Caller>): Promise<readonly Tool[]>
  /** Asks again which agents are exposed; true when that has changed. A failed attempt keeps what was known. */
  refresh(): Promise<boolean>
}

/** Seconds for which the agents in a caller's reach are believed: a call is checked by the API again. */
const reachSeconds = 20
const mostKept = 10_000

/** Agents that are published as tools of their own (`chat_with_<slug>`). */
export function createExposed(deps: {
  /** Which agents are exposed, of the whole platform. */
  load(): Promise<readonly ExposedAgent[]>
  clock: { now(): number }
  onLost(error: unknown): void
}): Exposed {
  const { clock } = deps
  let tools = new Map<string, Tool>()
  let known = ''
  const reach = new Map<string, { until: number; names: Promise<ReadonlySet<string>> }>()

  function reachOf({ key, api }: NonNullable<Caller>): Promise<ReadonlySet<string>> {
    const now = clock.now()
    const kept = reach.get(key.key_id)
    if (kept && kept.until > now) return kept.names
    const names = namesOf(api)
    if (reach.size >= mostKept) reach.clear()
    reach.set(key.key_id, { until: now + reachSeconds * 1000, names })
    names.catch(() => reach.delete(key.key_id))
    return names
  }

  return {
    async toolsFor(caller) {
      if (tools.size === 0 || caller.key.scope === 'connector') return []
      const names = await reachOf(caller)
      return [...tools].filter(([agent]) => names.has(agent)).map(([, tool]) => tool)
    },
    async refresh() {
      try {
        const agents = await deps.load()
        const now = JSON.stringify(agents)
        if (now === known) return false
        known = now
        // Whoever is told of the change asks at once, and a new name is in nobody's reach of before.
        reach.clear()
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
