import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import type { createDescribe } from './describe.ts'

export type DescriptionDeps = {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug'>
  agentRecords: Pick<AgentRecords, 'byId'>
  describe: Pick<ReturnType<typeof createDescribe>, 'workspace'>
}

/** Anonymous visitors can trigger this, and each load makes the agent read files. */
const cacheLimits = { maxAgeSeconds: 60, maxEntries: 500 }
/** Upper bound for how long a page waits for a busy agent. */
const maxWaitMs = 2000

/**
 * An agent's description from its `template.yaml`: the one in its workspace, else that of its template. Null
 * if both are empty.
 */
export function createDescriptionOf({ clock, log, agentRecords, describe }: DescriptionDeps) {
  const cache = createCache<{ text: string | null }>({
    clock,
    ...cacheLimits,
    async load(agentId) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) return null
      try {
        const { template } = await describe.workspace(agent, AbortSignal.timeout(maxWaitMs))
        return { text: template?.file.description.trim() || null }
      } catch (error) {
        // Fails open: the agent is usable without a description.
        log.debug({ err: error, agent_id: agentId }, 'could not load the description of an agent')
        return { text: null }
      }
    },
  })
  return async ({ id }: Pick<Agent, 'id'>): Promise<string | null> => (await cache.get(id))?.text ?? null
}
