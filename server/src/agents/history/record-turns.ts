import { randomUUID } from 'node:crypto'
import type { Lease, Leases } from '../../foundation/leases/index.ts'
import { type Clock, waitEnded } from '../../kit/clock.ts'
import { createTurnsByKey } from '../../kit/turns.ts'

/**
 * Runs work on the records of an agent one after another, across all processes. The signal that `work` gets aborts if
 * this process lost its turn. An abort of `signal` ends the wait with its reason.
 */
export type RecordTurns = <T>(
  agentId: string,
  work: (lost: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>

/** The turn of a killed process ends after this time. */
const leaseSeconds = 10
const renewMs = 3000
const pollMs = 100

export function createRecordTurns(deps: {
  leases: Pick<Leases, 'take' | 'renew' | 'release'>
  clock: Clock
}): RecordTurns {
  const { leases, clock } = deps
  // Within the process, the queue keeps the order of arrival and avoids polling the database.
  const inOrder = createTurnsByKey()
  const leaseEnd = () => clock.now().getTime() + leaseSeconds * 1000

  async function acquire(agentId: string, signal?: AbortSignal): Promise<{ lease: Lease; until: number }> {
    const holder = randomUUID()
    for (;;) {
      signal?.throwIfAborted()
      const until = leaseEnd()
      const lease = await leases.take(`records:${agentId}`, holder, leaseSeconds)
      if (lease) return { lease, until }
      await clock.wait(pollMs, signal)
    }
  }

  /** Renews the lease until `over`. A short outage of the database ends no turn. */
  async function keep(lease: Lease, begun: number, over: AbortSignal, lost: AbortController): Promise<void> {
    for (let until = begun; ; ) {
      await clock.wait(renewMs, over)
      if (over.aborted) return
      const next = leaseEnd()
      if (await leases.renew(lease, leaseSeconds).catch(() => false)) until = next
      else if (clock.now().getTime() >= until)
        return lost.abort(new Error('This process lost its turn to record the workspace.'))
    }
  }

  return (agentId, work, signal) =>
    inOrder(agentId, async () => {
      const { lease, until } = await acquire(agentId, signal)
      const over = new AbortController()
      const lost = new AbortController()
      const kept = keep(lease, until, over.signal, lost)
      try {
        return await work(lost.signal)
      } finally {
        over.abort(waitEnded)
        await kept
        // An unreleased lease expires by itself.
        await leases.release(lease).catch(() => {})
      }
    })
}
