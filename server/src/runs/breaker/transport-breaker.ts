import type { Clock } from '../../kit/clock.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { afterFailedCall, blank, isBlank } from './rules.ts'
import { breakerStore } from './store.ts'

export type TransportBreaker = {
  /** The same link; what becomes of its calls is counted. */
  watch(link: AgentLink): AgentLink
  /** The agent was heard over its link. */
  heard(agentId: string): Promise<void>
}

/**
 * Counts calls to an agent that no answer came to. Never refuses a call: what it remembers only marks the
 * agent as unreachable. Fails open: a count that cannot be written is logged and lost.
 */
export function createTransportBreaker(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
}): TransportBreaker {
  const { db, clock, log } = deps

  async function heard(agentId: string): Promise<void> {
    try {
      if (isBlank(await breakerStore(db).read(agentId, 'transport'))) return
      await db.atomically(async (tx) => {
        const store = breakerStore(tx)
        await store.hold(agentId, 'transport')
        await store.write(agentId, 'transport', blank)
      })
    } catch (error) {
      uncounted(agentId, error)
    }
  }

  async function missed(agentId: string): Promise<void> {
    try {
      await db.atomically(async (tx) => {
        const store = breakerStore(tx)
        const next = afterFailedCall(await store.hold(agentId, 'transport'), clock.now())
        if (next) await store.write(agentId, 'transport', next)
      })
    } catch (error) {
      uncounted(agentId, error)
    }
  }

  function uncounted(agentId: string, error: unknown): void {
    log.warn({ err: error, agent_id: agentId }, 'a call to an agent was not counted for its breaker')
  }

  return {
    heard,
    watch: (link) => ({
      ...link,
      async call(agentId, t, request, options) {
        try {
          const answer = await link.call(agentId, t, request, options)
          await heard(agentId)
          return answer
        } catch (error) {
          // An error that the agent named is an answer too; a caller that went away says nothing.
          if (error instanceof LinkFault) await heard(agentId)
          if (error instanceof LinkDown || error instanceof LinkTimeout) await missed(agentId)
          throw error
        }
      },
    }),
  }
}
