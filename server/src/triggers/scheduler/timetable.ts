import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import type { ScheduleTimes } from '../schedule-times/index.ts'
import { createHeap } from './heap.ts'
import { type Plan, planOf } from './rules.ts'

/** As much of a schedule as is kept: ten thousand of them lie in memory. */
export type Timed = Pick<
  ScheduleChange,
  'id' | 'agent_id' | 'cron_expression' | 'timezone' | 'misfire_policy'
>
export type Change = Timed & Pick<ScheduleChange, 'armed_at' | 'active'>

/** A schedule whose time has come, with what is to be done about it. */
export type DueSchedule = { schedule: Timed; plan: Plan }

/**
 * When each schedule is due, in memory. Nothing is asked of a schedule before its time comes. Times are
 * milliseconds since 1970; `now` is handed in with each call.
 */
export type Timetable = {
  /** Takes a new or changed schedule, or forgets one that is not active. `seenUntil`: its newest due time that has a record. */
  apply(change: Change, now: number, seenUntil?: number): void
  /** At most `most` of what is due; each counts as seen to up to `now` unless it is put back. */
  due(now: number, most?: number): DueSchedule[]
  /** What was due could not be recorded: it is due again at once. */
  putBack(due: readonly DueSchedule[]): void
  /** The clock was set back: times after `now` come again, and those that have a record are seen to be decided. */
  setBack(now: number): void
  nextAt(): number | null
  /** At most `most` of the schedules that are due at the next time. */
  dueNext(most: number): Timed[]
  /** A schedule that was answered has not changed since. */
  isPresent(schedule: Timed): boolean
  /** Schedules that have a due time. */
  size(): number
}

type Entry = {
  schedule: Timed
  /** Due times up to here are seen to. */
  after: number
  /** As it was before the last `due`. */
  before: number
}

export function createTimetable({ times }: { times: Pick<ScheduleTimes, 'next'> }): Timetable {
  const entries = new Map<string, Entry>()
  const texts = new Map<string, string>()
  let heap = createHeap<{ at: number; entry: Entry }>()

  /** One text for all that are equal. */
  function one(text: string): string {
    const known = texts.get(text)
    if (known !== undefined) return known
    texts.set(text, text)
    return text
  }

  const nextOf = (schedule: Timed) => (after: number) =>
    times.next(schedule, new Date(after))?.getTime() ?? null

  function enter(entry: Entry): void {
    const at = nextOf(entry.schedule)(entry.after)
    if (at !== null) heap.put({ at, entry })
  }

  /** Items of schedules that changed since are left in the heap until they come up. */
  function dropStale(): void {
    for (
      let item = heap.first();
      item && entries.get(item.entry.schedule.id) !== item.entry;
      item = heap.first()
    ) {
      heap.take()
    }
  }

  function renew(entry: Entry): void {
    const { id } = entry.schedule
    entries.set(id, entry)
    enter(entry)
  }

  return {
    apply(change, now, seenUntil = Number.NEGATIVE_INFINITY) {
      const { id, armed_at, misfire_policy } = change
      const known = entries.get(id)
      entries.delete(id)
      if (!change.active) return
      const schedule = {
        id,
        agent_id: one(change.agent_id),
        cron_expression: one(change.cron_expression),
        timezone: one(change.timezone),
        misfire_policy,
      }
      const seen = Math.max(Date.parse(armed_at), known?.after ?? Number.NEGATIVE_INFINITY, seenUntil)
      // Ahead of the clock nothing is seen to: the clock was set back since.
      const after = Math.min(now, seen)
      renew({ schedule, after, before: after })
    },

    due(now, most = Number.POSITIVE_INFINITY) {
      const found: DueSchedule[] = []
      dropStale()
      for (let item = heap.first(); item && item.at <= now && found.length < most; item = heap.first()) {
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
        // Changed meanwhile: what it is now was entered then.
        if (entry?.schedule !== schedule) continue
        renew({ schedule, after: entry.before, before: entry.before })
      }
    },

    setBack(now) {
      heap = createHeap()
      for (const { schedule, after } of [...entries.values()]) {
        const seen = Math.min(now, after)
        renew({ schedule, after: seen, before: seen })
      }
    },

    nextAt() {
      dropStale()
      return heap.first()?.at ?? null
    },

    dueNext(most) {
      const items: { at: number; entry: Entry }[] = []
      dropStale()
      const at = heap.first()?.at
      for (let item = heap.first(); item && item.at === at && items.length < most; item = heap.first()) {
        heap.take()
        items.push(item)
        dropStale()
      }
      for (const item of items) heap.put(item)
      return items.map(({ entry }) => entry.schedule)
    },

    isPresent: (schedule) => entries.get(schedule.id)?.schedule === schedule,
    size: () => entries.size,
  }
}
