import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type FireRow, fireStore, keyOf, runAndRollBack } from '../fires/index.ts'
import type { ScheduleTimes } from '../schedule-times/index.ts'
import { type ClaimedFire, createDeliver } from './deliver.ts'
import type { Platform } from './platform.ts'
import { createPrefetch } from './prefetch.ts'
import { createTimetable, type DueSchedule } from './timetable.ts'

export type TickDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  platform: Pick<Platform, 'fire' | 'fireTogether' | 'changes' | 'rehearse'>
  times: Pick<ScheduleTimes, 'next'>
  /** A fire has made a run. */
  made(executionId: string): void
  /** Ends what is being handed over. */
  signal: AbortSignal
  /** Fewer schedules that are due together are claimed when they are due. */
  leastAhead?: number
}

/** What a leading scheduler does again and again, one step at a time. */
export type Tick = {
  /** Hands over what was claimed before and is not decided, and learns all schedules and what was seen to of them. */
  begin(): Promise<void>
  /** Learns what changed since. True: something did. */
  follow(): Promise<boolean>
  /** Hands over what was claimed ahead, claims what else is due now and hands it over; the claim is awaited, the rest is not. */
  fireDue(): Promise<void>
  /** Claims a busy due time shortly before it has come. One that fails is told, and claimed when it is due. */
  claimAhead(): Promise<void>
  /**
   * Does once what the next due time will ask for when many come together, and keeps nothing of it: code that has
   * not run for a while takes several times as long as code that has.
   */
  rehearse(): Promise<void>
  /** When the next schedule is due, in milliseconds since 1970. */
  nextAt(): number | null
  /** When there is something to do for `fireDue`: then, or shortly before. */
  wakeAt(): number
  size(): number
  /** Resolves when nothing is being handed over. */
  handedOver(): Promise<void>
}

const rehearsedTogether = 250
/** Fewer than these are quick enough. */
const busy = 100
/** Claimed by one transaction. */
const claimedTogether = 2_000
/** Handed over by one call, one call behind the other. */
const sentTogether = 500

export function createTick(deps: TickDeps): Tick {
  const { db, clock, log, platform, signal, leastAhead = busy } = deps
  const store = fireStore(db)
  const timetable = createTimetable(deps)
  const handOver = createDeliver(deps)
  const ahead = createPrefetch({ clock, store, timetable, rowOf, least: leastAhead })
  const sending = new Map<string, Promise<void>>()
  const agentNames = new Map<string, string>()
  let lastDue: ReadonlyMap<string, string> = new Map()
  let position = 0
  let last = Number.NEGATIVE_INFINITY
  /** A claim failed, and nobody knows whether it was committed: its rows would be nobody's. */
  let mayBeClaimed = false

  const now = () => clock.now().getTime()

  async function follow(): Promise<boolean> {
    for (let isNews = false; ; isNews = true) {
      const found = await platform.changes(position, signal)
      for (const schedule of found.schedules) {
        const seen = lastDue.get(schedule.id)
        agentNames.set(schedule.agent_id, schedule.agent_name)
        timetable.apply(schedule, now(), seen === undefined ? undefined : Date.parse(seen))
      }
      if (found.schedules.length === 0) return isNews
      position = found.position
    }
  }

  /**
   * The claim decides: what was there before is another one's, or was decided. What was missed is recorded with it:
   * a claim without that would hide what was missed before it. All of it before anything is sent, so that on SQLite
   * claims do not wait for what the platform writes of the first of them.
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

  /** What was claimed and nobody has decided; claims ahead of another leader, or of a moment ago, count for nothing. */
  async function sendOpen(): Promise<void> {
    await ahead.releaseAll()
    sendAll(await store.open())
  }

  function sendAll(rows: readonly FireRow[]): void {
    for (let from = 0; from < rows.length; from += sentTogether) send(rows.slice(from, from + sentTogether))
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
    const sent = handOver(dues, signal).finally(() => {
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
      await follow()
      lastDue = new Map()
    },
    follow,

    async fireDue() {
      // A second of tolerance: a clock that is kept right in small steps is not set back.
      if (now() < last - 1000) timetable.setBack(now())
      last = now()
      sendAll(await ahead.take())
      for (;;) {
        if (mayBeClaimed) await sendOpen()
        mayBeClaimed = false
        const due = timetable.due(last, claimedTogether)
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

    async claimAhead() {
      try {
        await ahead.claim()
      } catch (error) {
        mayBeClaimed = true
        log.warn({ err: error }, 'what is due next could not be claimed ahead')
      }
    },

    async rehearse() {
      const [dueAt, schedules] = [timetable.nextAt(), timetable.dueNext(rehearsedTogether)]
      if (dueAt === null || schedules.length < busy) return
      const rows = schedules.map((schedule) => rowOf(schedule, dueAt))
      await runAndRollBack(db, (tx) => fireStore(tx).insertNew(rows))
      await platform.rehearse(rows.map(dueOf), signal)
    },

    nextAt: timetable.nextAt,
    wakeAt: () =>
      Math.min(...[timetable.nextAt(), ahead.deliverAt()].map((at) => at ?? Number.POSITIVE_INFINITY)),
    size: timetable.size,
    async handedOver() {
      while (sending.size > 0) await Promise.all(sending.values())
    },
  }
}
