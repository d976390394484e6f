import type { Lease, Leases } from '../../foundation/leases/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { createStreak } from '../../ports/log-streak.ts'
import { lead } from './leader.ts'
import type { Platform } from './platform.ts'

export type SchedulerDeps = {
  db: Db
  clock: Clock
  log: Log
  leases: Pick<Leases, 'take' | 'renew' | 'release'>
  platform: Platform
  times: Pick<ScheduleTimes, 'next'>
  /** Identifies the process in the log: host and process id. */
  name: string
  /** Id of the process among the replicas. */
  replicaId: string
  /** Called after each successful access to the database, at least every few seconds while all is well. */
  onAlive?: () => void
}

export type Scheduler = { stop(): Promise<void> }

const leaseName = 'scheduler'
/** With the pause of the others, a scheduler follows a dead leader within 15 seconds. */
const leaseSeconds = 9
const renewSeconds = 3
const standBySeconds = 5
/** After an error of the database: a short outage ends no lease. */
const retrySeconds = 1

/**
 * Fires all schedules. Of several schedulers one leads, and the others stand by. A leader that was paused and
 * replaced does no harm: the row of a due time decides which claim and fire counts, and the new leader
 * sends claims that the old one left.
 */
export function startScheduler(deps: SchedulerDeps): Scheduler {
  const { clock, log, leases } = deps
  const holder = deps.replicaId
  const stopping = new AbortController()
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }

  async function run(): Promise<void> {
    const streak = createStreak(log, {
      failing: 'the lease of the scheduler could not be requested',
      over: 'the lease of the scheduler can be requested again',
    })
    while (!stopping.signal.aborted) {
      const lease = await leases.take(leaseName, holder, leaseSeconds).then(
        (acquired) => {
          streak.worked()
          deps.onAlive?.()
          return acquired
        },
        (error: unknown) => {
          streak.failed(error)
          return null
        },
      )
      if (lease) await leadUnder(lease)
      await clock.waitAbout(standBySeconds * 1000, stopping.signal)
    }
  }

  async function leadUnder(lease: Lease): Promise<void> {
    const lost = new AbortController()
    const signal = AbortSignal.any([stopping.signal, lost.signal])
    log.info({ name: deps.name }, 'this scheduler leads')
    const leading = lead({ ...deps, since: timestamp(clock.now()) }, signal).catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'leading failed; it is begun anew')
      lost.abort()
    })
    await keep(lease, signal)
    lost.abort()
    await leading
    if (stopping.signal.aborted) await leases.release(lease).catch(() => {})
    else log.warn({ name: deps.name }, 'this scheduler does not lead any more')
  }

  /** Leads until the lease is lost, or may be lost because it was not renewed in time. */
  async function keep(lease: Lease, signal: AbortSignal): Promise<void> {
    const streak = createStreak(log, {
      failing: 'the lease of the scheduler could not be renewed',
      over: 'the lease of the scheduler is renewed again',
    })
    const end = () => clock.now().getTime() + leaseSeconds * 1000
    let until = end()
    let pause = renewSeconds
    while (!signal.aborted) {
      await clock.wait(pause * 1000, signal)
      if (signal.aborted) return
      const renewedUntil = end()
      try {
        if (!(await leases.renew(lease, leaseSeconds))) return
        until = renewedUntil
        pause = renewSeconds
        streak.worked()
        deps.onAlive?.()
      } catch (error) {
        pause = retrySeconds
        streak.failed(error)
        if (clock.now().getTime() >= until) return
      }
    }
  }
}
