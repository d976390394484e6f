import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { createStreak } from '../../ports/log-streak.ts'
import { fireStore } from '../fires/index.ts'
import type { ScheduleTimes } from '../schedule-times/index.ts'
import type { Platform } from './platform.ts'
import { createTick } from './tick.ts'
import { createWatch, lookSeconds } from './watch.ts'

export type LeadDeps = {
  db: Db
  clock: Clock
  log: Log
  platform: Platform
  times: Pick<ScheduleTimes, 'next'>
  name: string
  /** When it began to lead. */
  since: string
}

/** A change of a schedule is seen after at most this time, and so is a clock that was set. */
const followSeconds = 2
const tellSeconds = 10
const retrySeconds = 1
/** So long before a due time it is rehearsed, unless one was so shortly before. */
const aheadSeconds = 4
const warmSeconds = 90

/** Leads until the signal aborts. */
export async function lead(deps: LeadDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const watch = createWatch(deps)
  const round = createTick({ ...deps, made: watch.add, signal })
  let nudge = new AbortController()
  signal.addEventListener('abort', () => nudge.abort(), { once: true })

  /** Repeats a step that sees to its own pauses; one that fails is told and comes again. */
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

  /** Not awaited: what is due is due, whatever becomes of its rehearsal. */
  function rehearse(): void {
    const next = round.nextAt()
    const isNear = next !== null && next - clock.now().getTime() <= aheadSeconds * 1000
    if (!isNear || next - rehearsedFor < warmSeconds * 1000) return
    rehearsedFor = next
    round.rehearse().catch((error: unknown) => log.debug({ err: error }, 'nothing was rehearsed'))
  }

  async function fire(): Promise<void> {
    const streak = createStreak(log, {
      failing: 'due fires could not be claimed',
      over: 'due fires are claimed again',
    })
    while (!signal.aborted) {
      const hasFailed = await round.fireDue().then(
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
      await round.claimAhead()
      nudge = new AbortController()
      const untilNext = round.wakeAt() - clock.now().getTime()
      const pause = hasFailed ? retrySeconds * 1000 : Math.min(untilNext, followSeconds * 1000)
      await clock.wait(Math.max(0, pause), nudge.signal)
    }
  }

  async function tell(): Promise<void> {
    const next = round.nextAt()
    await fireStore(db).tellState({
      leader: deps.name,
      leads_since: deps.since,
      jobs_count: round.size(),
      next_due_at: next === null ? null : timestamp(new Date(next)),
      checked_at: timestamp(clock.now()),
    })
  }

  /** Without all schedules nothing is due; the platform may still be starting. */
  async function begin(): Promise<void> {
    while (!signal.aborted) {
      try {
        await round.begin()
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
    every(followSeconds, 'following the changes', async () => {
      if (await round.follow()) nudge.abort()
    }),
    every(tellSeconds, 'telling of the scheduler', tell),
    every(lookSeconds, 'looking at runs', () => watch.look(signal)),
  ])
  await round.handedOver()
}
