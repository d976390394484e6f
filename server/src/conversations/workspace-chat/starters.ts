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

/** First words to an agent, from the playbooks of its workspace. */
export type Starters = (agent: Agent) => Promise<Starter[]>

/** A roster is asked for often, and each list costs the agent some reading. */
const remembered = { maxAgeSeconds: 60, maxEntries: 500 }
/** Nobody waits longer for their roster because of one agent. */
const patienceMs = 2000

/** An agent that does not tell has none: without them people talk to it all the same. */
export function createStarters({ clock, log, agentRecords, playbooks }: StartersDeps): Starters {
  const cache = createCache<Starter[]>({
    clock,
    ...remembered,
    async load(agentId) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) return null
      return playbooks.starters(agent, AbortSignal.timeout(patienceMs)).catch((error: unknown) => {
        log.debug({ err: error, agent_id: agentId }, 'the playbooks of an agent are not known')
        return []
      })
    },
  })
  return async ({ id }) => (await cache.get(id)) ?? []
}
