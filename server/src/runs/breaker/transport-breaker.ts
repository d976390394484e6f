import type { Clock } from '../../kit/clock.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { afterFailedCall, blank, isBlank } from './rules.ts'
import { breakerStore } from './store.ts'

export type TransportBreaker = {
  /** Returns the link with its calls counted. */
  watch(link: AgentLink): AgentLink
  /** Records that the agent has sent something over its link. */
  recordAnswer(agentId: string): Promise<void>
}

/**
 * Counts unanswered calls to an agent. Never refuses a call, only marks the agent as unreachable. Fails open:
 * a failed write is logged and the count is lost.
 */
export function createTransportBreaker(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
}): TransportBreaker {
  const { db, clock, log } = deps

  async function recordAnswer(agentId: string): Promise<void> {
    try {
      if (isBlank(await breakerStore(db).read(agentId, 'transport'))) return
      await db.atomically(async (tx) => {
        const store = breakerStore(tx)
        await store.hold(agentId, 'transport')
        await store.write(agentId, 'transport', blank)
      })
    } catch (error) {
      logUncounted(agentId, error)
    }
  }

  async function recordFailure(agentId: string): Promise<void> {
    try {
      await db.atomically(async (tx) => {
        const store = breakerStore(tx)
        const next = afterFailedCall(await store.hold(agentId, 'transport'), clock.now())
        if (next) await store.write(agentId, 'transport', next)
      })
    } catch (error) {
      logUncounted(agentId, error)
    }
  }

  function logUncounted(agentId: string, error: unknown): void {
    log.warn({ err: error, agent_id: agentId }, 'a call to an agent was not counted for its breaker')
  }

  return {
    recordAnswer,
    watch: (link) => ({
      ...link,
      async call(agentId, t, request, options) {
        try {
          const answer = await link.call(agentId, t, request, options)
          await recordAnswer(agentId)
          return answer
        } catch (error) {
          // A fault named by the agent is an answer too; an abort by the caller says nothing.
          if (error instanceof LinkFault) await recordAnswer(agentId)
          if (error instanceof LinkDown || error instanceof LinkTimeout) await recordFailure(agentId)
          throw error
        }
      },
    }),
  }
}
