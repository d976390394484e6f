import type { SkillDelivery } from '@roost/contracts/skills/assignments'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { assignmentStore } from '../assignments/index.ts'
import type { Library } from '../library/index.ts'
import type { Attempts } from './attempt.ts'
import { deliveryViewOf, type Outcome } from './outcome.ts'
import { deliveryWaitSeconds, undelivered } from './rules.ts'

export type ArrivalsDeps = Pick<Attempts, 'attemptTwice' | 'attemptAfterOthers'> & {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  link: Pick<AgentLink, 'isConnected' | 'wake'>
  library: Pick<Library, 'resolve'>
  /** Waits up to 20 seconds; null after that. */
  inTime<T>(work: Promise<T>): Promise<T | null>
  /** Registers work that `close` waits for. */
  track<T>(work: Promise<T>): Promise<T>
  /** Aborts when the platform stops. */
  closing: AbortSignal
}

/** Deliveries to agents that have just connected. */
export type Arrivals = {
  /** Synchronizes an agent that has connected; a failure is retried later. */
  greeted(agentId: string): void
  /** False while skills are being delivered to a connected agent, which is woken afterwards. */
  mayBegin(agentId: string): boolean
  /** Waits up to 20 seconds for the link of a starting container, and then delivers. */
  onceConnected(agentId: string, since: Date): Promise<Outcome>
  /**
   * Delivers to a container that was started at `since`; null if there is nothing to deliver or remove. A start does
   * not deliver stale skills, so they do not make it incomplete. Never throws.
   */
  atStart(agentId: string, since: Date): Promise<SkillDelivery | null>
}

/** `isAgentWaiting`: the agent has asked for work in the meantime. */
type Arrival = { at: Date; outcome: Promise<Outcome>; isHeld: boolean; isAgentWaiting: boolean }

const pollMs = 50
/** Outcomes are available for this time, because a start may ask after the agent has connected. */
const outcomeMs = 60_000

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const { db, clock, log, link, library, attemptTwice, attemptAfterOthers, inTime, track, closing } = deps
  const arrivals = new Map<string, Arrival>()

  /** The skills that a start must deliver; empty if there are only removals, null if there is nothing to do. */
  async function assigned(agentId: string): Promise<string[] | null> {
    const store = assignmentStore(db)
    const [rows, removals] = await Promise.all([store.of(agentId), store.removals(agentId)])
    if (rows.length + removals.length === 0) return null
    const known = await library.resolve()
    return rows.map(({ skill_name }) => skill_name).filter((name) => known.has(name))
  }

  /** A worker that is already busy may have read the workspace before the agent connected. */
  async function synchronize(agentId: string): Promise<Outcome> {
    try {
      return await attemptAfterOthers(agentId)
    } catch (error) {
      log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; the delivery is retried')
      return { kind: 'failed' }
    }
  }

  /** Holds runs back for a limited time: a run without a skill is better than no run. */
  async function holdUntil(agentId: string, arrival: Arrival): Promise<void> {
    const isNothing = (await assigned(agentId).catch(() => null)) === null
    if (!isNothing && (await inTime(arrival.outcome)) === null)
      log.warn({ agent_id: agentId }, 'runs start before the delivery of the skills has ended')
    arrival.isHeld = false
    if (arrivals.get(agentId) === arrival && arrival.isAgentWaiting) link.wake(agentId)
  }

  function removeOld(now: number): void {
    for (const [id, { at, isHeld }] of arrivals) {
      if (!isHeld && now - at.getTime() > outcomeMs) arrivals.delete(id)
    }
  }

  async function onceConnected(agentId: string, since: Date): Promise<Outcome> {
    const giveUpAt = clock.now().getTime() + deliveryWaitSeconds * 1000
    const isWaiting = () => !closing.aborted && clock.now().getTime() < giveUpAt
    while (!link.isConnected(agentId) && isWaiting()) await clock.wait(pollMs, closing)
    const arrival = arrivals.get(agentId)
    // It may have connected to another process.
    return arrival && arrival.at >= since ? arrival.outcome : track(attemptTwice(agentId))
  }

  return {
    onceConnected,

    greeted(agentId) {
      const at = clock.now()
      removeOld(at.getTime())
      const arrival = { at, outcome: track(synchronize(agentId)), isHeld: true, isAgentWaiting: false }
      arrivals.set(agentId, arrival)
      void track(holdUntil(agentId, arrival))
    },

    mayBegin(agentId) {
      const arrival = arrivals.get(agentId)
      if (!arrival?.isHeld) return true
      arrival.isAgentWaiting = true
      return false
    },

    async atStart(agentId, since) {
      try {
        const names = await assigned(agentId)
        if (names === null) return null
        const outcome = await inTime(onceConnected(agentId, since))
        const isThere = outcome !== null || link.isConnected(agentId)
        return isThere ? deliveryViewOf(outcome, names) : undelivered('not_delivered', 'agent_starting')
      } catch (error) {
        log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; the delivery is retried')
        return undelivered('not_delivered', 'install_failed')
      }
    },
  }
}
