import type { SkillDelivery } from '@roost/contracts/skills/assignments'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { assignmentStore } from '../assignments/index.ts'
import type { Library } from '../library/index.ts'
import type { Attempts } from './attempt.ts'
import { type Outcome, toldDelivery } from './outcome.ts'
import { deliveryWaitSeconds, undelivered } from './rules.ts'

export type ArrivalsDeps = Pick<Attempts, 'attemptTwice' | 'attemptAfterOthers'> & {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  link: Pick<AgentLink, 'isConnected' | 'wake'>
  library: Pick<Library, 'resolve'>
  /** Answers after 20 seconds at the latest; null then. */
  inTime<T>(work: Promise<T>): Promise<T | null>
  /** What is waited for when the process ends. */
  track<T>(work: Promise<T>): Promise<T>
  /** Aborts when the platform stops. */
  closing: AbortSignal
}

/** Skills on their way to agents that have just dialled in. */
export type Arrivals = {
  /** Brings an agent in line when it greets; what hinders it is tried again. */
  greeted(agentId: string): void
  /** False while skills are on their way to an agent that has greeted; it is woken when it may. */
  mayBegin(agentId: string): boolean
  /** Waits for the link of a container that was started a moment ago, 20 seconds at most, and then tries. */
  onceThere(agentId: string, since: Date): Promise<Outcome>
  /**
   * For a container that was started at `since`. Null: the agent has no skills, and none to lose. A stale skill is
   * not delivered by a start, so it does not make one incomplete. Never throws.
   */
  atStart(agentId: string, since: Date): Promise<SkillDelivery | null>
}

/** `isWanted`: it has asked for work meanwhile. */
type Arrival = { at: Date; outcome: Promise<Outcome>; isHeld: boolean; isWanted: boolean }

const lookEveryMs = 50
/** How long it is known how an arrival went: whoever starts an agent may ask after it has greeted. */
const keptMs = 60_000

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const { db, clock, log, link, library, attemptTwice, attemptAfterOthers, inTime, track, closing } = deps
  const arrivals = new Map<string, Arrival>()

  /** What a start has to deliver, empty when there are only removals; null: nothing at all is to be done. */
  async function assigned(agentId: string): Promise<string[] | null> {
    const store = assignmentStore(db)
    const [rows, removals] = await Promise.all([store.of(agentId), store.removals(agentId)])
    if (rows.length + removals.length === 0) return null
    const known = await library.resolve()
    return rows.map(({ skill_name }) => skill_name).filter((name) => known.has(name))
  }

  /** Whoever is at the agent already may have read what it had before it greeted. */
  async function bring(agentId: string): Promise<Outcome> {
    try {
      return await attemptAfterOthers(agentId)
    } catch (error) {
      log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; it is tried again')
      return { kind: 'failed' }
    }
  }

  /** A run without a skill is better than no run: what takes longer than the wait holds nobody up. */
  async function holdUntil(agentId: string, arrival: Arrival): Promise<void> {
    const isNothing = (await assigned(agentId).catch(() => null)) === null
    if (!isNothing && (await inTime(arrival.outcome)) === null)
      log.warn({ agent_id: agentId }, 'runs begin before the skills that are on their way to the agent')
    arrival.isHeld = false
    if (arrivals.get(agentId) === arrival && arrival.isWanted) link.wake(agentId)
  }

  function forgetOld(now: number): void {
    for (const [id, { at, isHeld }] of arrivals) {
      if (!isHeld && now - at.getTime() > keptMs) arrivals.delete(id)
    }
  }

  async function onceThere(agentId: string, since: Date): Promise<Outcome> {
    const giveUpAt = clock.now().getTime() + deliveryWaitSeconds * 1000
    const isWaiting = () => !closing.aborted && clock.now().getTime() < giveUpAt
    while (!link.isConnected(agentId) && isWaiting()) await clock.wait(lookEveryMs, closing)
    const arrival = arrivals.get(agentId)
    // It may have greeted another process.
    return arrival && arrival.at >= since ? arrival.outcome : track(attemptTwice(agentId))
  }

  return {
    onceThere,

    greeted(agentId) {
      const at = clock.now()
      forgetOld(at.getTime())
      const arrival = { at, outcome: track(bring(agentId)), isHeld: true, isWanted: false }
      arrivals.set(agentId, arrival)
      void track(holdUntil(agentId, arrival))
    },

    mayBegin(agentId) {
      const arrival = arrivals.get(agentId)
      if (!arrival?.isHeld) return true
      arrival.isWanted = true
      return false
    },

    async atStart(agentId, since) {
      try {
        const names = await assigned(agentId)
        if (names === null) return null
        const outcome = await inTime(onceThere(agentId, since))
        const isThere = outcome !== null || link.isConnected(agentId)
        return isThere ? toldDelivery(outcome, names) : undelivered('not_delivered', 'agent_starting')
      } catch (error) {
        log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; it is tried again')
        return undelivered('not_delivered', 'install_failed')
      }
    },
  }
}
