import type {
  ScheduleAnalytics,
  ScheduleSummary,
  SummaryWindow,
} from '@roost/contracts/triggers/schedule-analytics'
import { spansBetween } from '../../kit/calendar.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { analyticsOf, sampleLimit, summaryOf } from './figures.ts'
import type { RunStore } from './runs-store.ts'
import type { ScheduleStore } from './store.ts'

const windowHours: Record<SummaryWindow, number> = { '7d': 168, '14d': 336, '30d': 720 }

export type Analytics = {
  /** Throws `schedule_not_found`. */
  analytics(agentId: string, id: string, hours: ScheduleAnalytics['window_hours']): Promise<ScheduleAnalytics>
  summary(agentId: string, window: SummaryWindow): Promise<ScheduleSummary>
}

export function createScheduleAnalytics(deps: {
  clock: Pick<Clock, 'now'>
  store: Pick<ScheduleStore, 'byId' | 'ofAgent'>
  runs: RunStore
}): Analytics {
  const { clock, store, runs } = deps
  return {
    async analytics(agentId, id, hours) {
      const schedule = await store.byId(id)
      if (schedule?.agent_id !== agentId) throw new Fault('schedule_not_found')
      const now = clock.now()
      const from = secondsLater(now, -hours * 3600)
      const since = timestamp(from)
      const [counts, durations, tools] = await Promise.all([
        runs.countsByDay(id, since),
        runs.durations(id, since, sampleLimit + 1),
        runs.tools(id, since),
      ])
      return analyticsOf(hours, spansBetween('day', from, now), { counts, durations, tools })
    },

    async summary(agentId, window) {
      const hours = windowHours[window]
      const since = timestamp(secondsLater(clock.now(), -hours * 3600))
      const schedules = await store.ofAgent(agentId)
      const [counts, last] = await Promise.all([
        runs.countsBySchedule(agentId, since),
        runs.last(schedules.map(({ id }) => id)),
      ])
      const bySchedule = Map.groupBy(counts, ({ schedule_id }) => schedule_id)
      return {
        window,
        window_hours: hours,
        schedule_count: schedules.length,
        schedules: schedules.map((schedule) =>
          summaryOf(schedule, bySchedule.get(schedule.id) ?? [], last.get(schedule.id) ?? null),
        ),
      }
    },
  }
}
