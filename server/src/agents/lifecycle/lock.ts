import type { Lease, Leases } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'

/** One lifecycle operation of an agent at a time, in this process and in all others. */
export type Lock = {
  /**
   * Waits its turn, then does `work`. Throws `agent_busy` when another process holds the agent for longer
   * than a minute.
   */
  run<T>(agentId: string, work: () => Promise<T>): Promise<T>
  /** Does `work` unless somebody else is at it; null then. */
  tryRun<T>(agentId: string, work: () => Promise<T>): Promise<T | null>
}

/** A process that dies gives its agents free after this long. */
const leaseSeconds = 30
const renewEveryMs = 10_000
const lookEveryMs = 100
const longestWaitMs = 60_000

export type LockDeps = { leases: Pick<Leases, 'take' | 'renew' | 'release'>; clock: Clock }

export function createLock({ leases, clock }: LockDeps): Lock {
  const queues = new Map<string, Promise<unknown>>()

  async function acquire(agentId: string, waitMs: number): Promise<Lease | null> {
    const holder = newId()
    const giveUpAt = clock.now().getTime() + waitMs
    for (;;) {
      const lease = await leases.take(`agent:${agentId}`, holder, leaseSeconds)
      if (lease || clock.now().getTime() >= giveUpAt) return lease
      await clock.wait(lookEveryMs)
    }
  }

  async function hold<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    const done = new AbortController()
    const renewing = renewUntil(done.signal, lease)
    try {
      return await work()
    } finally {
      done.abort()
      await renewing
      // Not released, it expires by itself.
      await leases.release(lease).catch(() => {})
    }
  }

  async function renewUntil(signal: AbortSignal, lease: Lease): Promise<void> {
    for (;;) {
      await clock.wait(renewEveryMs, signal)
      if (signal.aborted) return
      // A database that is away for a moment must not end the work; the next round tries again.
      await leases.renew(lease, leaseSeconds).catch(() => {})
    }
  }

  /** Within the process a queue keeps the order of arrival and spares the database the asking. */
  async function inTurn<T>(agentId: string, work: () => Promise<T>): Promise<T> {
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
    run: (agentId, work) =>
      inTurn(agentId, async () => {
        const lease = await acquire(agentId, longestWaitMs)
        if (!lease) throw new Fault('agent_busy', 'Another operation of this agent is still going on.')
        return hold(lease, work)
      }),
    async tryRun(agentId, work) {
      if (queues.has(agentId)) return null
      return inTurn(agentId, async () => {
        const lease = await acquire(agentId, 0)
        return lease ? hold(lease, work) : null
      })
    },
  }
}
