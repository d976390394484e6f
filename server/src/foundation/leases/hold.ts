import { type Clock, waitEnded } from '../../kit/clock.ts'
import type { Leases } from './service.ts'

/** A lease that is renewed until its release. */
export type Hold = {
  /** Aborts when another process may have the lease. */
  lost: AbortSignal
  /** Never rejects: a lease that cannot be released expires by itself. */
  release(): Promise<void>
}

export type HoldDeps = { leases: Pick<Leases, 'take' | 'renew' | 'release'>; clock: Clock }

/** Takes a lease and renews it. Null while another holder has it. An outage of the database may last almost `seconds`. */
export async function holdLease(
  { leases, clock }: HoldDeps,
  { name, holder, seconds }: { name: string; holder: string; seconds: number },
): Promise<Hold | null> {
  const end = () => clock.now().getTime() + seconds * 1000
  let until = end()
  const lease = await leases.take(name, holder, seconds)
  if (!lease) return null
  const over = new AbortController()
  const lost = new AbortController()

  async function keepRenewing(held: NonNullable<typeof lease>): Promise<void> {
    for (;;) {
      await clock.wait(Math.floor(seconds / 3) * 1000, over.signal)
      if (over.signal.aborted) return
      const next = end()
      // Null: the database does not answer.
      const isRenewed = await leases.renew(held, seconds).catch(() => null)
      if (isRenewed) until = next
      else if (isRenewed === false || clock.now().getTime() >= until)
        return lost.abort(new Error(`This process lost the lease ${name}.`))
    }
  }

  const renewing = keepRenewing(lease)
  return {
    lost: lost.signal,
    async release() {
      over.abort(waitEnded)
      await renewing
      await leases.release(lease).catch(() => {})
    },
  }
}
