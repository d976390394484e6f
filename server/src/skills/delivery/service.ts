import type { Loop } from '../../background/loops.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import { assignmentStore, type Deliver } from '../assignments/index.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'
import { type AttemptDeps, createAttempt } from './attempt.ts'
import { deliveryViewOf, type Injected, injectedOf, type Outcome, removalViewOf } from './outcome.ts'
import { deliveryWaitSeconds } from './rules.ts'

export type DeliveryDeps = Omit<AttemptDeps, 'closing'> & {
  link: Pick<AgentLink, 'call' | 'isConnected' | 'wake'>
}

export type Delivery = Omit<Arrivals, 'onceConnected'> & {
  deliver: Deliver
  /** Throws `agent_stopped`, `agent_unresponsive`, `injection_in_progress`. */
  inject(agentId: string, force: boolean): Promise<Injected>
  loops: Loop[]
  /** Resolves when no delivery is running. */
  settled(): Promise<void>
  /** Ends waits and lets running deliveries finish; call it before the database closes. */
  close(): Promise<void>
}

/** Delivers skills to agents, with one worker at a time per agent. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { db, clock, link } = deps
  const stop = new AbortController()
  const closing = stop.signal
  const attempts = createAttempt({ ...deps, closing })
  const { attempt, attemptTwice } = attempts
  const working = new Set<Promise<unknown>>()

  function track<T>(work: Promise<T>): Promise<T> {
    const settled = work.catch(() => {}).finally(() => working.delete(settled))
    working.add(settled)
    return work
  }

  async function settled(): Promise<void> {
    while (working.size > 0) await Promise.all(working)
  }

  async function inTime<T>(work: Promise<T>): Promise<T | null> {
    const ended = new AbortController()
    try {
      return await Promise.race([
        work,
        clock.wait(deliveryWaitSeconds * 1000, AbortSignal.any([ended.signal, closing])).then(() => null),
      ])
    } finally {
      ended.abort()
    }
  }

  const { onceConnected, ...arrivals } = createArrivals({ ...deps, ...attempts, inTime, track, closing })

  /** Null while the delivery continues. */
  async function attemptInTime(agentId: string): Promise<Outcome | null> {
    const since = clock.now()
    const first = track(attemptTwice(agentId))
    const whole = first.then((outcome) =>
      outcome.kind === 'starting' ? onceConnected(agentId, since) : outcome,
    )
    const outcome = await inTime(whole)
    if (outcome !== null || link.isConnected(agentId)) return outcome
    // Other reasons have produced an outcome by now.
    return { kind: 'starting' }
  }

  return {
    ...arrivals,

    async deliver(agentId, { added, dropped }) {
      const outcome = await attemptInTime(agentId)
      const removal = dropped.length === 0 ? null : removalViewOf(outcome, dropped)
      return { delivery: deliveryViewOf(outcome, added), removal }
    },

    async inject(agentId, force) {
      const outcome = await track(attempt(agentId, { force }))
      switch (outcome.kind) {
        case 'stopped':
          throw new Fault('agent_stopped')
        case 'busy':
          throw new Fault('injection_in_progress')
        case 'starting':
        case 'unreachable':
        case 'unreadable':
        case 'failed':
          throw new Fault('agent_unresponsive')
        case 'done':
          return injectedOf(outcome.reconciled)
      }
    },

    loops: [
      {
        name: 'skills.unfinished',
        everySeconds: 60,
        deadlineSeconds: 300,
        async run(signal) {
          for (const agentId of await assignmentStore(db).unfinished()) {
            if (signal.aborted) return
            await track(attempt(agentId))
          }
        },
      },
    ],

    settled,
    close() {
      stop.abort()
      return settled()
    },
  }
}
