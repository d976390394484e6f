import { type Clock, timestamp } from '../../kit/clock.ts'
import { type FireRow, type FireStore, keyOf } from '../fires/index.ts'
import type { Timed, Timetable } from './timetable.ts'

export type PrefetchDeps = {
  clock: Pick<Clock, 'now'>
  store: Pick<FireStore, 'insertNew' | 'release' | 'releaseAhead'>
  timetable: Pick<Timetable, 'nextAt' | 'dueNext' | 'isPresent'>
  rowOf(schedule: Timed, dueAt: number): FireRow
  /** Fewer that are due together are claimed when they are due. */
  least: number
}

export type Prefetch = {
  /** Claims what is due next, when it is near and there is much of it. */
  claim(): Promise<void>
  /** When what was claimed is to be handed over, in milliseconds since 1970. */
  deliverAt(): number | null
  /**
   * What is to be handed over now; each is answered once. What is not to be handed over after all, because its
   * schedule has changed or nobody looked in time, is given back first.
   */
  take(): Promise<FireRow[]>
  /** It was handed over ahead: its time needs no claim when it has come. */
  isDelivered(row: FireRow): boolean
  /** Gives back all that anybody has claimed ahead. */
  releaseAll(): Promise<void>
}

/** Longer than a leader ever sleeps. */
const nearMs = 2_500
/** So long before their time fires are handed over: the platform reads what it needs, and waits. */
const handOverMs = 400
/** When nobody looked for longer, the plan of what was missed decides. */
const timelyMs = 1_000
const mostClaimed = 2_000

/**
 * Claims of a busy due time, made before it and handed over shortly before, so that nothing is left to be done for them
 * here when it has come. A claim ahead is no promise to fire. It is given back when it turns out not to be due, and by the next leader when this one is gone.
 */
export function createPrefetch({ clock, store, timetable, rowOf, least }: PrefetchDeps): Prefetch {
  let claimed: { dueAt: number; fires: { schedule: Timed; row: FireRow }[] } | null = null
  let taken: ReadonlySet<string> = new Set()
  let takenFor: number | null = null

  return {
    async claim() {
      const dueAt = timetable.nextAt()
      const now = clock.now().getTime()
      if (claimed || dueAt === null || dueAt === takenFor || dueAt <= now || dueAt - now > nearMs) return
      const schedules = timetable.dueNext(mostClaimed)
      if (schedules.length < least) return
      const fires = schedules.map((schedule) => ({ schedule, row: rowOf(schedule, dueAt) }))
      const inserted = await store.insertNew(fires.map(({ row }) => row))
      const won = new Set(inserted.map(({ schedule_id }) => schedule_id))
      claimed = { dueAt, fires: fires.filter(({ schedule }) => won.has(schedule.id)) }
    },

    deliverAt: () => claimed && claimed.dueAt - handOverMs,

    async take() {
      if (!claimed) return []
      const { dueAt, fires } = claimed
      const now = clock.now().getTime()
      const isSetBack = dueAt - now > nearMs
      if (dueAt - handOverMs > now && !isSetBack) return []
      const isTimely = !isSetBack && now - dueAt <= timelyMs
      const due = isTimely ? fires.filter(({ schedule }) => timetable.isPresent(schedule)) : []
      const back = due.length === fires.length ? [] : fires.filter((fire) => !due.includes(fire))
      const backIds = back.map(({ schedule }) => schedule.id)
      if (backIds.length > 0) await store.release(timestamp(new Date(dueAt)), backIds)
      claimed = null
      takenFor = dueAt
      taken = new Set(due.map(({ row }) => keyOf(row)))
      return due.map(({ row }) => row)
    },

    isDelivered: (row) => taken.has(keyOf(row)),

    async releaseAll() {
      claimed = null
      await store.releaseAhead()
    },
  }
}
