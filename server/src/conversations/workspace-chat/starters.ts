import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Playbooks, Starter } from '../../runs/playbooks/index.ts'

export type StartersDeps = {
  clock: Clock
  log: Pick<Log, 'debug'>
  agentRecords: Pick<AgentRecords, 'byId'>
  playbooks: Pick<Playbooks, 'starters'>
}

/** Suggested first messages to an agent, from the playbooks in its workspace. */
export type Starters = (agent: Agent) => Promise<Starter[]>

/** Rosters load often, and each list needs file reads at the agent. */
const cacheLimits = { maxAgeSeconds: 60, maxEntries: 500 }
/** Limits how long one agent can delay the roster. */
const timeoutMs = 2000

/** An agent that does not respond gets an empty list; chatting does not need it. */
export function createStarters({ clock, log, agentRecords, playbooks }: StartersDeps): Starters {
  const cache = createCache<Starter[]>({
    clock,
    ...cacheLimits,
    async load(agentId) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) return null
      return playbooks.starters(agent, AbortSignal.timeout(timeoutMs)).catch((error: unknown) => {
        log.debug({ err: error, agent_id: agentId }, 'the playbooks of an agent are not known')
        return []
      })
    },
  })
  return async ({ id }) => (await cache.get(id)) ?? []
}
