import type { Leases } from '../../foundation/leases/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'

export type AloneDeps = { leases: Pick<Leases, 'take' | 'renew' | 'release'>; clock: Clock }

/** A process that dies lets the next restart begin after this long. */
const leaseSeconds = 30
const renewEveryMs = 10_000

/**
 * Does one thing with the whole fleet at a time, over all processes. Throws `fleet_restart_in_progress`. The
 * signal aborts when the lease is lost.
 */
export function createAlone({ leases, clock }: AloneDeps) {
  return async function alone<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const lease = await leases.take('fleet.acts', newId(), leaseSeconds)
    if (!lease) throw new Fault('fleet_restart_in_progress')
    const done = new AbortController()
    const lost = new AbortController()
    const renewing = (async () => {
      for (;;) {
        await clock.wait(renewEveryMs, done.signal)
        if (done.signal.aborted) return
        // A database that is away for a moment must not end the work; the next round tries again.
        const isHeld = await leases.renew(lease, leaseSeconds).catch(() => true)
        if (!isHeld) lost.abort()
      }
    })()
    try {
      return await work(lost.signal)
    } finally {
      done.abort()
      await renewing
      // Not released, it expires by itself.
      await leases.release(lease).catch(() => {})
    }
  }
}
