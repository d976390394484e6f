import { type Clock, timestamp } from '../../kit/clock.ts'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type FireRow, fireStore, keyOf, runAndRollBack } from '../fires/index.ts'
import { type ClaimedFire, createDeliver } from './deliver.ts'
import type { Platform } from './platform.ts'
import { createPrefetch } from './prefetch.ts'
import { createTimetable, type DueSchedule } from './timetable.ts'

export type TickDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  platform: Pick<Platform, 'fire' | 'fireAll' | 'changes' | 'rehearse'>
  times: Pick<ScheduleTimes, 'next'>
  /** Called with each run that a fire made. */
  started(executionId: string): void
  /** Ends the deliveries. */
  signal: AbortSignal
  /** Smaller groups of schedules are claimed when they are due. */
  minAhead?: number
}

/** The steps that a leading scheduler repeats. */
export type Tick = {
  /** Delivers claimed and undecided fires, and reads all schedules with their last recorded due times. */
  begin(): Promise<void>
  /** Reads the changes of schedules; true if there were any. */
  readChanges(): Promise<boolean>
  /** Delivers fires claimed ahead, then claims and delivers the other due ones. Awaits the claims, not the deliveries. */
  fireDue(): Promise<void>
  /** Delivers overdue claims of schedulers that lost the lead before they sent them. */
  sendForgotten(): Promise<void>
  /** Claims a busy due time shortly before it. A failure is logged, and the fires are claimed when they are due. */
  claimAhead(): Promise<void>
  /**
   * Does the work of a busy next due time once without storing anything, because code that has not run for a while is
   * several times slower.
   */
  rehearse(): Promise<void>
  /** The next due time, in milliseconds since 1970. */
  nextAt(): number | null
  /** When `fireDue` has work: at the next due time, or shortly before. */
  wakeAt(): number
  size(): number
  /** Resolves when no delivery is running. */
  delivered(): Promise<void>
}

const maxRehearsed = 250
/** Smaller groups are fast without preparation. */
const busyCount = 100
const maxPerClaim = 2_000
const maxPerCall = 500
/** A leader sends its claims immediately. */
const forgottenMs = 5_000

export function createTick(deps: TickDeps): Tick {
  const { db, clock, log, platform, signal, minAhead = busyCount } = deps
  const store = fireStore(db)
  const timetable = createTimetable(deps)
  const deliver = createDeliver(deps)
  const ahead = createPrefetch({ clock, store, timetable, rowOf, minFires: minAhead })
  const sending = new Map<string, Promise<void>>()
  const agentNames = new Map<string, string>()
  let lastDue: ReadonlyMap<string, string> = new Map()
  let position = 0
  let last = Number.NEGATIVE_INFINITY
  /** A claim failed, and may have been committed all the same. */
  let mayBeClaimed = false

  const now = () => clock.now().getTime()

  async function readChanges(): Promise<boolean> {
    for (let isChanged = false; ; isChanged = true) {
      const found = await platform.changes(position, signal)
      for (const schedule of found.schedules) {
        const recorded = lastDue.get(schedule.id)
        agentNames.set(schedule.agent_id, schedule.agent_name)
        timetable.apply(schedule, now(), recorded === undefined ? undefined : Date.parse(recorded))
      }
      if (found.schedules.length === 0) return isChanged
      position = found.position
    }
  }

  /**
   * Claims due fires; existing rows belong to another scheduler or are decided. Missed times are recorded with them,
   * because a claim alone would hide earlier ones. All are claimed before the first is sent, so that on SQLite claims
   * do not wait for the platform's writes.
   */
  async function claim(due: readonly DueSchedule[]): Promise<FireRow[]> {
    const missed = due.flatMap(({ schedule, plan }) =>
      plan.missed.map(({ dueAt, reason }) => rowOf(schedule, dueAt, { outcome: 'missed', reason })),
    )
    const claimed = due
      .flatMap(({ schedule, plan }) =>
        plan.fire.map(({ dueAt, isCatchUp }) => rowOf(schedule, dueAt, { is_catch_up: isCatchUp ? 1 : 0 })),
      )
      .filter((row) => !ahead.isDelivered(row))
    if (missed.length + claimed.length === 0) return []
    const inserted = await db.atomically(async (tx) => {
      const [, claims] = await Promise.all([
        fireStore(tx).insertNew(missed),
        fireStore(tx).insertNew(claimed),
      ])
      return claims
    })
    const won = new Set(inserted.map(keyOf))
    return claimed.filter((row) => won.has(keyOf(row)))
  }

  /** Sends claimed and undecided fires, after releasing all claims made ahead. */
  async function sendOpen(): Promise<void> {
    await ahead.releaseAll()
    sendAll(await store.open())
  }

  function sendAll(rows: readonly FireRow[]): void {
    for (let from = 0; from < rows.length; from += maxPerCall) send(rows.slice(from, from + maxPerCall))
  }

  function rowOf(
    schedule: DueSchedule['schedule'],
    dueAt: number,
    over: Partial<Pick<FireRow, 'is_catch_up' | 'outcome' | 'reason'>> = {},
  ): FireRow {
    return {
      schedule_id: schedule.id,
      due_at: timestamp(new Date(dueAt)),
      agent_id: schedule.agent_id,
      is_catch_up: 0,
      outcome: null,
      reason: null,
      execution_id: null,
      recorded_at: timestamp(clock.now()),
      ...over,
    }
  }

  function send(rows: readonly FireRow[]): void {
    const dues = rows.filter((row) => !sending.has(keyOf(row))).map(dueOf)
    if (dues.length === 0) return
    const sent = deliver(dues, signal).finally(() => {
      for (const due of dues) sending.delete(keyOf(due))
    })
    for (const due of dues) sending.set(keyOf(due), sent)
  }

  function dueOf({ schedule_id, due_at, agent_id }: FireRow): ClaimedFire {
    return { schedule_id, due_at, agent_id, agent_name: agentNames.get(agent_id) || agent_id }
  }

  return {
    async begin() {
      await sendOpen()
      lastDue = await store.lastDue(timestamp(clock.now()))
      await readChanges()
      lastDue = new Map()
    },
    readChanges,

    async fireDue() {
      // A second of tolerance, for clocks that are corrected in small steps.
      if (now() < last - 1000) timetable.setBack(now())
      last = now()
      sendAll(await ahead.take())
      for (;;) {
        if (mayBeClaimed) await sendOpen()
        mayBeClaimed = false
        const due = timetable.due(last, maxPerClaim)
        if (due.length === 0) return
        try {
          sendAll(await claim(due))
        } catch (error) {
          timetable.putBack(due)
          mayBeClaimed = true
          throw error
        }
      }
    },

    async sendForgotten() {
      // `fireDue` is about to deliver or release overdue claims made ahead.
      if ((ahead.deliverAt() ?? Number.POSITIVE_INFINITY) <= now()) return
      const overdue = timestamp(new Date(now() - forgottenMs))
      sendAll((await store.open()).filter(({ due_at }) => due_at <= overdue))
    },

    async claimAhead() {
      try {
        await ahead.claim()
      } catch (error) {
        mayBeClaimed = true
        log.warn({ err: error }, 'the next due fires could not be claimed ahead')
      }
    },

    async rehearse() {
      const [dueAt, schedules] = [timetable.nextAt(), timetable.dueNext(maxRehearsed)]
      if (dueAt === null || schedules.length < busyCount) return
      const rows = schedules.map((schedule) => rowOf(schedule, dueAt))
      await runAndRollBack(db, (tx) => fireStore(tx).insertNew(rows))
      await platform.rehearse(rows.map(dueOf), signal)
    },

    nextAt: timetable.nextAt,
    wakeAt: () =>
      Math.min(...[timetable.nextAt(), ahead.deliverAt()].map((at) => at ?? Number.POSITIVE_INFINITY)),
    size: timetable.size,
    async delivered() {
      while (sending.size > 0) await Promise.all(sending.values())
    },
  }
}
