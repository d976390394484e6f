import { type Hold, type HoldDeps, holdLease } from '../../foundation/leases/index.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'

/** Requires the lock. `lost` aborts when another process may have it: stop changing the agent. */
type LockedWork<T> = (lost: AbortSignal) => Promise<T>

/** Allows one lifecycle operation per agent at a time, across all processes. */
export type Lock = {
  /**
   * Waits for the lock, then runs `work`. Throws `agent_busy` when another process holds it for more than a
   * minute.
   */
  run<T>(agentId: string, work: LockedWork<T>): Promise<T>
  /** Runs `work` if the lock is free, otherwise returns null. */
  tryRun<T>(agentId: string, work: LockedWork<T>): Promise<T | null>
  /**
   * Before each step at the engine: throws `agent_busy` if this process no longer holds the lock, for example because
   * it was frozen. Another process may work on the agent by now.
   */
  assertHeld(agentId: string): void
}

/** The locks of a crashed process expire after this time. */
const leaseSeconds = 30
const pollEveryMs = 100
const maxWaitMs = 60_000

export type LockDeps = HoldDeps

export function createLock({ leases, clock }: LockDeps): Lock {
  const queues = new Map<string, Promise<unknown>>()
  /** Milliseconds since 1970 until which no other process can have the lock, by agent. */
  const heldUntil = new Map<string, number>()

  /** Grants of an agent's lease, with their ends in `heldUntil`. */
  function leasesOf(agentId: string): HoldDeps['leases'] {
    const recorded = async <T>(request: () => Promise<T>): Promise<T> => {
      const until = clock.now().getTime() + leaseSeconds * 1000
      const granted = await request()
      if (granted) heldUntil.set(agentId, until)
      return granted
    }
    return {
      take: (...request) => recorded(() => leases.take(...request)),
      renew: (...request) => recorded(() => leases.renew(...request)),
      release: (lease) => leases.release(lease),
    }
  }

  async function acquire(agentId: string, waitMs: number): Promise<Hold | null> {
    const request = { name: `agent:${agentId}`, holder: newId(), seconds: leaseSeconds }
    const giveUpAt = clock.now().getTime() + waitMs
    for (;;) {
      const hold = await holdLease({ leases: leasesOf(agentId), clock }, request)
      if (hold || clock.now().getTime() >= giveUpAt) return hold
      await clock.wait(pollEveryMs)
    }
  }

  async function runWithLease<T>(agentId: string, hold: Hold, work: LockedWork<T>): Promise<T> {
    try {
      return await work(hold.lost)
    } finally {
      await hold.release()
      heldUntil.delete(agentId)
    }
  }

  /** Within the process a queue keeps arrival order and avoids polling the database. */
  async function inOrder<T>(agentId: string, work: () => Promise<T>): Promise<T> {
    const before = queues.get(agentId) ?? Promise.resolve()
    const turn = before.then(work, work)
    queues.set(agentId, turn)
    try {
      return await turn
    } finally {
      if (queues.get(agentId) === turn) queues.delete(agentId)
    }
  }

  return {
    assertHeld(agentId) {
      if ((heldUntil.get(agentId) ?? 0) <= clock.now().getTime())
        throw new Fault(
          'agent_busy',
          'This process lost its lock on the agent, and another one may be changing it. Try again.',
        )
    },
    run: (agentId, work) =>
      inOrder(agentId, async () => {
        const hold = await acquire(agentId, maxWaitMs)
        if (!hold) throw new Fault('agent_busy', 'Another operation on this agent is still running.')
        return runWithLease(agentId, hold, work)
      }),
    async tryRun(agentId, work) {
      if (queues.has(agentId)) return null
      return inOrder(agentId, async () => {
        const hold = await acquire(agentId, 0)
        return hold ? runWithLease(agentId, hold, work) : null
      })
    },
  }
}
