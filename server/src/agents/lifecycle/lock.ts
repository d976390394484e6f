import type { Lease, Leases } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'

/** Allows one lifecycle operation per agent at a time, across all processes. */
export type Lock = {
  /**
   * Waits for the lock, then runs `work`. Throws `agent_busy` when another process holds it for more than a
   * minute.
   */
  run<T>(agentId: string, work: () => Promise<T>): Promise<T>
  /** Runs `work` if the lock is free, otherwise returns null. */
  tryRun<T>(agentId: string, work: () => Promise<T>): Promise<T | null>
  /**
   * Before each step at the engine: throws `agent_busy` if this process no longer holds the lock, for example because
   * it was frozen. Another process may work on the agent by now.
   */
  assertHeld(agentId: string): void
}

/** The locks of a crashed process expire after this time. */
const leaseSeconds = 30
const renewEveryMs = 10_000
const pollEveryMs = 100
const maxWaitMs = 60_000

export type LockDeps = { leases: Pick<Leases, 'take' | 'renew' | 'release'>; clock: Clock }

export function createLock({ leases, clock }: LockDeps): Lock {
  const queues = new Map<string, Promise<unknown>>()
  /** Milliseconds since 1970 until which no other process can have the lock, by agent. */
  const heldUntil = new Map<string, number>()
  const leaseEnd = () => clock.now().getTime() + leaseSeconds * 1000

  async function acquire(agentId: string, waitMs: number): Promise<Lease | null> {
    const holder = newId()
    const giveUpAt = clock.now().getTime() + waitMs
    for (;;) {
      const until = leaseEnd()
      const lease = await leases.take(`agent:${agentId}`, holder, leaseSeconds)
      if (lease) heldUntil.set(agentId, until)
      if (lease || clock.now().getTime() >= giveUpAt) return lease
      await clock.wait(pollEveryMs)
    }
  }

  async function runWithLease<T>(agentId: string, lease: Lease, work: () => Promise<T>): Promise<T> {
    const done = new AbortController()
    const renewing = renewUntil(done.signal, agentId, lease)
    try {
      return await work()
    } finally {
      done.abort()
      await renewing
      heldUntil.delete(agentId)
      // An unreleased lease expires by itself.
      await leases.release(lease).catch(() => {})
    }
  }

  async function renewUntil(signal: AbortSignal, agentId: string, lease: Lease): Promise<void> {
    for (;;) {
      await clock.wait(renewEveryMs, signal)
      if (signal.aborted) return
      const until = leaseEnd()
      // A short database outage must not end the work; the next renewal tries again.
      if (await leases.renew(lease, leaseSeconds).catch(() => false)) heldUntil.set(agentId, until)
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
        const lease = await acquire(agentId, maxWaitMs)
        if (!lease) throw new Fault('agent_busy', 'Another operation on this agent is still running.')
        return runWithLease(agentId, lease, work)
      }),
    async tryRun(agentId, work) {
      if (queues.has(agentId)) return null
      return inOrder(agentId, async () => {
        const lease = await acquire(agentId, 0)
        return lease ? runWithLease(agentId, lease, work) : null
      })
    },
  }
}
