import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import type { ScheduleTimes } from '../../kit/schedule-times.ts'
import { createHeap } from './heap.ts'
import { type Plan, planOf } from './rules.ts'

/** The fields of a schedule that are held in memory, for tens of thousands of schedules. */
export type Timed = Pick<
  ScheduleChange,
  'id' | 'agent_id' | 'cron_expression' | 'timezone' | 'misfire_policy'
>
export type Change = Timed & Pick<ScheduleChange, 'armed_at' | 'active'>

/** A due schedule with its plan. */
export type DueSchedule = { schedule: Timed; plan: Plan }

/**
 * The due times of all schedules, in memory. A schedule costs nothing before its due time. Times are milliseconds
 * since 1970.
 */
export type Timetable = {
  /** Adds or changes a schedule, or removes an inactive one. `recordedUntil` is its newest recorded due time. */
  apply(change: Change, now: number, recordedUntil?: number): void
  /** Returns up to `max` due schedules; each is handled up to `now` unless it is put back. */
  due(now: number, max?: number): DueSchedule[]
  /** Makes schedules due again that could not be recorded. */
  putBack(due: readonly DueSchedule[]): void
  /** Handles a clock that was set back: times after `now` are due again, and existing records prevent a second fire. */
  setBack(now: number): void
  nextAt(): number | null
  /** Up to `max` schedules that are due at the next due time. */
  dueNext(max: number): Timed[]
  /** Whether a returned schedule is unchanged. */
  isPresent(schedule: Timed): boolean
  /** Number of schedules with a due time. */
  size(): number
  /** Number of items in memory, with those of earlier versions of the schedules. */
  held(): number
}

type Entry = {
  schedule: Timed
  /** Due times up to here are handled. */
  after: number
  /** The value of `after` before the last `due`. */
  before: number
}

/** Items of changed schedules that are always allowed. */
const maxStale = 1000

export function createTimetable({ times }: { times: Pick<ScheduleTimes, 'next'> }): Timetable {
  const entries = new Map<string, Entry>()
  const texts = new Map<string, string>()
  let heap = createHeap<{ at: number; entry: Entry }>()

  /** Returns one string instance for equal texts. */
  function intern(text: string): string {
    const known = texts.get(text)
    if (known !== undefined) return known
    texts.set(text, text)
    return text
  }

  const nextOf = (schedule: Timed) => (after: number) =>
    times.next(schedule, new Date(after))?.getTime() ?? null

  function addToHeap(entry: Entry): void {
    const at = nextOf(entry.schedule)(entry.after)
    if (at !== null) heap.put({ at, entry })
  }

  /** Items of changed schedules stay in the heap until they come first. */
  function dropStale(): void {
    for (
      let item = heap.first();
      item && entries.get(item.entry.schedule.id) !== item.entry;
      item = heap.first()
    ) {
      heap.take()
    }
  }

  /** Otherwise each change of a schedule that is due in a year would stay in memory for that year. */
  function dropManyStale(): void {
    if (heap.size <= 2 * entries.size + maxStale) return
    const old = heap
    heap = createHeap()
    texts.clear()
    for (let item = old.take(); item; item = old.take())
      if (entries.get(item.entry.schedule.id) === item.entry) heap.put(item)
  }

  function renew(entry: Entry): void {
    const { id } = entry.schedule
    entries.set(id, entry)
    addToHeap(entry)
    dropManyStale()
  }

  return {
    apply(change, now, recordedUntil = Number.NEGATIVE_INFINITY) {
      const { id, armed_at, misfire_policy } = change
      const known = entries.get(id)
      entries.delete(id)
      if (!change.active) return
      const schedule = {
        id,
        agent_id: intern(change.agent_id),
        cron_expression: intern(change.cron_expression),
        timezone: intern(change.timezone),
        misfire_policy,
      }
      const handled = Math.max(Date.parse(armed_at), known?.after ?? Number.NEGATIVE_INFINITY, recordedUntil)
      // A value ahead of the clock is invalid: the clock was set back.
      const after = Math.min(now, handled)
      renew({ schedule, after, before: after })
    },

    due(now, max = Number.POSITIVE_INFINITY) {
      const found: DueSchedule[] = []
      dropStale()
      for (let item = heap.first(); item && item.at <= now && found.length < max; item = heap.first()) {
        heap.take()
        const { entry } = item
        const { schedule, after } = entry
        const plan = planOf(schedule.misfire_policy, nextOf(schedule), { after, now })
        renew({ schedule, after: now, before: after })
        found.push({ schedule, plan })
        dropStale()
      }
      return found
    },

    putBack(due) {
      for (const { schedule } of due) {
        const entry = entries.get(schedule.id)
        // A changed schedule was already added again.
        if (entry?.schedule !== schedule) continue
        renew({ schedule, after: entry.before, before: entry.before })
      }
    },

    setBack(now) {
      heap = createHeap()
      for (const { schedule, after } of [...entries.values()]) {
        const handled = Math.min(now, after)
        renew({ schedule, after: handled, before: handled })
      }
    },

    nextAt() {
      dropStale()
      return heap.first()?.at ?? null
    },

    dueNext(max) {
      const items: { at: number; entry: Entry }[] = []
      dropStale()
      const at = heap.first()?.at
      for (let item = heap.first(); item && item.at === at && items.length < max; item = heap.first()) {
        heap.take()
        items.push(item)
        dropStale()
      }
      for (const item of items) heap.put(item)
      return items.map(({ entry }) => entry.schedule)
    },

    isPresent: (schedule) => entries.get(schedule.id)?.schedule === schedule,
    size: () => entries.size,
    held: () => heap.size,
  }
}
