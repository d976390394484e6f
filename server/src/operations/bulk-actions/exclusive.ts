import type { Leases } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'

export type ExclusiveDeps = { leases: Pick<Leases, 'take' | 'renew' | 'release'>; clock: Clock }

/** After a crash of the process, the next restart can begin after this time. */
const leaseSeconds = 30
const renewEveryMs = 10_000

/**
 * Runs one act on the fleet at a time, over all processes. Throws `fleet_restart_in_progress`. The signal aborts when
 * the lease is lost.
 */
export function createExclusive({ leases, clock }: ExclusiveDeps) {
  return async function exclusively<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const lease = await leases.take('fleet.acts', newId(), leaseSeconds)
    if (!lease) throw new Fault('fleet_restart_in_progress')
    const done = new AbortController()
    const lost = new AbortController()
    const renewing = (async () => {
      for (;;) {
        await clock.wait(renewEveryMs, done.signal)
        if (done.signal.aborted) return
        // A short outage of the database must not end the act; the next renewal tries again.
        const isHeld = await leases.renew(lease, leaseSeconds).catch(() => true)
        if (!isHeld) lost.abort()
      }
    })()
    try {
      return await work(lost.signal)
    } finally {
      done.abort()
      await renewing
      // If the release fails, the lease expires.
      await leases.release(lease).catch(() => {})
    }
  }
}
