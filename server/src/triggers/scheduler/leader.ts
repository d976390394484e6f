import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { createStreak } from '../../ports/log-streak.ts'
import { fireStore } from '../fires/index.ts'
import type { Platform } from './platform.ts'
import { createTick } from './tick.ts'
import { createWatch, watchSeconds } from './watch.ts'

export type LeadDeps = {
  db: Db
  clock: Clock
  log: Log
  platform: Platform
  times: Pick<ScheduleTimes, 'next'>
  name: string
  /** The time when it began to lead. */
  since: string
}

/** The maximum delay until a changed schedule or a changed clock is noticed. */
const followSeconds = 2
const stateSeconds = 10
const forgottenSeconds = 10
const retrySeconds = 1
/** Time between a rehearsal and its due time. */
const rehearsalLeadSeconds = 4
/** No rehearsal within this time after another one. */
const warmSeconds = 90

/** Leads until the signal aborts. */
export async function lead(deps: LeadDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const watch = createWatch(deps)
  const tick = createTick({ ...deps, started: watch.add, signal })
  let nudge = new AbortController()
  signal.addEventListener('abort', () => nudge.abort(), { once: true })

  /** Repeats a step at an interval. A failure is logged, and the step is repeated. */
  async function every(seconds: number, what: string, step: () => Promise<unknown>): Promise<void> {
    const streak = createStreak(log, { failing: `${what} failed`, over: `${what} works again` })
    while (!signal.aborted) {
      const pause = await step().then(
        () => {
          streak.worked()
          return seconds
        },
        (error: unknown) => {
          if (!signal.aborted) streak.failed(error)
          return Math.min(seconds, retrySeconds)
        },
      )
      await clock.wait(pause * 1000, signal)
    }
  }

  let rehearsedFor = Number.NEGATIVE_INFINITY

  /** Not awaited, so that a slow rehearsal delays no fire. */
  function rehearse(): void {
    const next = tick.nextAt()
    const isNear = next !== null && next - clock.now().getTime() <= rehearsalLeadSeconds * 1000
    if (!isNear || next - rehearsedFor < warmSeconds * 1000) return
    rehearsedFor = next
    tick.rehearse().catch((error: unknown) => log.debug({ err: error }, 'the rehearsal failed'))
  }

  async function fire(): Promise<void> {
    const streak = createStreak(log, {
      failing: 'due fires could not be claimed',
      over: 'due fires are claimed again',
    })
    while (!signal.aborted) {
      const hasFailed = await tick.fireDue().then(
        () => {
          streak.worked()
          return false
        },
        (error: unknown) => {
          streak.failed(error)
          return true
        },
      )
      if (signal.aborted) return
      rehearse()
      await tick.claimAhead()
      nudge = new AbortController()
      const untilNext = tick.wakeAt() - clock.now().getTime()
      const pause = hasFailed ? retrySeconds * 1000 : Math.min(untilNext, followSeconds * 1000)
      await clock.wait(Math.max(0, pause), nudge.signal)
    }
  }

  async function storeState(): Promise<void> {
    const next = tick.nextAt()
    await fireStore(db).storeState({
      leader: deps.name,
      leads_since: deps.since,
      jobs_count: tick.size(),
      next_due_at: next === null ? null : timestamp(new Date(next)),
      checked_at: timestamp(clock.now()),
    })
  }

  /** Waits for the platform, which may still be starting: without schedules nothing is due. */
  async function begin(): Promise<void> {
    while (!signal.aborted) {
      try {
        await tick.begin()
        return
      } catch (error) {
        log.debug({ err: error }, 'the schedules cannot be read yet')
        await clock.wait(retrySeconds * 1000, signal)
      }
    }
  }

  await begin()
  await Promise.all([
    fire(),
    every(followSeconds, 'reading the changes', async () => {
      if (await tick.readChanges()) nudge.abort()
    }),
    every(stateSeconds, 'storing the state of the scheduler', storeState),
    every(forgottenSeconds, 'looking for claims that nobody sent', tick.sendForgotten),
    every(watchSeconds, 'checking the runs', () => watch.check(signal)),
  ])
  await tick.delivered()
}
