import { type Clock, timestamp } from '../../kit/clock.ts'
import { type FireRow, type FireStore, keyOf } from '../fires/index.ts'
import type { Timed, Timetable } from './timetable.ts'

export type PrefetchDeps = {
  clock: Pick<Clock, 'now'>
  store: Pick<FireStore, 'insertNew' | 'release' | 'releaseAhead'>
  timetable: Pick<Timetable, 'nextAt' | 'dueNext' | 'isPresent'>
  rowOf(schedule: Timed, dueAt: number): FireRow
  /** Smaller groups are claimed when they are due. */
  minFires: number
}

export type Prefetch = {
  /** Claims the next due fires if their time is near and they are many. */
  claim(): Promise<void>
  /** When the claimed fires must be delivered, in milliseconds since 1970. */
  deliverAt(): number | null
  /**
   * Returns the fires to deliver now, each once. Before that it releases claims that must not be delivered: their
   * schedule changed, or their time has passed.
   */
  take(): Promise<FireRow[]>
  /** Whether the fire was delivered ahead, so that it needs no claim when it is due. */
  isDelivered(row: FireRow): boolean
  /** Releases all claims made ahead, also by other leaders. */
  releaseAll(): Promise<void>
}

/** Longer than a leader ever sleeps. */
const nearMs = 2_500
/** Time before the due time at which fires are delivered: the platform reads its data, and waits. */
const deliverMs = 400
/** After a longer delay the plan for missed times decides. */
const timelyMs = 1_000
const maxClaimed = 2_000

/**
 * Claims the fires of a busy due time in advance and delivers them shortly before it, so that no work is left at the
 * due time. A claim made ahead does not have to fire. It is released when it turns out not to be due, or by the next
 * leader.
 */
export function createPrefetch({ clock, store, timetable, rowOf, minFires }: PrefetchDeps): Prefetch {
  let claimed: { dueAt: number; fires: { schedule: Timed; row: FireRow }[] } | null = null
  let delivered: ReadonlySet<string> = new Set()
  let deliveredFor: number | null = null

  return {
    async claim() {
      const dueAt = timetable.nextAt()
      const now = clock.now().getTime()
      if (claimed || dueAt === null || dueAt === deliveredFor || dueAt <= now || dueAt - now > nearMs) return
      const schedules = timetable.dueNext(maxClaimed)
      if (schedules.length < minFires) return
      const fires = schedules.map((schedule) => ({ schedule, row: rowOf(schedule, dueAt) }))
      const inserted = await store.insertNew(fires.map(({ row }) => row))
      const won = new Set(inserted.map(({ schedule_id }) => schedule_id))
      claimed = { dueAt, fires: fires.filter(({ schedule }) => won.has(schedule.id)) }
    },

    deliverAt: () => claimed && claimed.dueAt - deliverMs,

    async take() {
      if (!claimed) return []
      const { dueAt, fires } = claimed
      const now = clock.now().getTime()
      const isSetBack = dueAt - now > nearMs
      if (dueAt - deliverMs > now && !isSetBack) return []
      const isTimely = !isSetBack && now - dueAt <= timelyMs
      const due = isTimely ? fires.filter(({ schedule }) => timetable.isPresent(schedule)) : []
      const unwanted = due.length === fires.length ? [] : fires.filter((fire) => !due.includes(fire))
      const unwantedIds = unwanted.map(({ schedule }) => schedule.id)
      if (unwantedIds.length > 0) await store.release(timestamp(new Date(dueAt)), unwantedIds)
      claimed = null
      deliveredFor = dueAt
      delivered = new Set(due.map(({ row }) => keyOf(row)))
      return due.map(({ row }) => row)
    },

    isDelivered: (row) => delivered.has(keyOf(row)),

    async releaseAll() {
      claimed = null
      await store.releaseAhead()
    },
  }
}
