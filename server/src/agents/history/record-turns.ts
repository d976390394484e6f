import { randomUUID } from 'node:crypto'
import { type Hold, type HoldDeps, holdLease } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
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
const pollMs = 100

export function createRecordTurns(deps: { leases: HoldDeps['leases']; clock: Clock }): RecordTurns {
  const { clock } = deps
  // Within the process, the queue keeps the order of arrival and avoids polling the database.
  const inOrder = createTurnsByKey()

  async function acquire(agentId: string, signal?: AbortSignal): Promise<Hold> {
    const holder = randomUUID()
    for (;;) {
      signal?.throwIfAborted()
      const hold = await holdLease(deps, { name: `records:${agentId}`, holder, seconds: leaseSeconds })
      if (hold) return hold
      await clock.wait(pollMs, signal)
    }
  }

  return (agentId, work, signal) =>
    inOrder(agentId, async () => {
      const hold = await acquire(agentId, signal)
      try {
        return await work(hold.lost)
      } finally {
        await hold.release()
      }
    })
}
