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

/** Strangers may ask, and each question costs the agent some reading. */
const remembered = { maxAgeSeconds: 60, maxEntries: 500 }
/** Nobody waits longer for a page because an agent is busy. */
const patienceMs = 2000

/**
 * What an agent is there for, in the words of its `template.yaml`: the one in its workspace, else the one it was made
 * from. Null: neither says anything.
 */
export function createDescriptionOf({ clock, log, agentRecords, describe }: DescriptionDeps) {
  const cache = createCache<{ text: string | null }>({
    clock,
    ...remembered,
    async load(agentId) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) return null
      try {
        const { template } = await describe.workspace(agent, AbortSignal.timeout(patienceMs))
        return { text: template?.file.description.trim() || null }
      } catch (error) {
        // Fails open: without it the agent is used all the same.
        log.debug({ err: error, agent_id: agentId }, 'what an agent is there for is not known')
        return { text: null }
      }
    },
  })
  return async ({ id }: Pick<Agent, 'id'>): Promise<string | null> => (await cache.get(id))?.text ?? null
}
