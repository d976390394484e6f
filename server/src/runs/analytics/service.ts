import type { Analytics, AnalyticsWindow, TokenStats } from '@roost/contracts/runs/analytics'
import { lastDays, spansBetween } from '../../kit/calendar.ts'
import { type Clock, secondsLater } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { analyticsOf, sampleLimit, tokenStatsOf, windowHours } from './rules.ts'
import { analyticsStore, type RunsOf } from './store.ts'

export type AgentAnalytics = {
  analytics(runs: RunsOf, window: AnalyticsWindow): Promise<Analytics>
  tokenStats(runs: RunsOf & { agentName: string }): Promise<TokenStats>
}

const daySeconds = 86_400

export function createAnalytics({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): AgentAnalytics {
  const store = analyticsStore(db)
  return {
    async analytics(runs, window) {
      const now = clock.now()
      const from = secondsLater(now, -windowHours[window] * 3_600)
      const since = from.toISOString()
      const [counts, durations] = await Promise.all([
        store.countsByDay(runs, since),
        store.durations(runs, since, sampleLimit + 1),
      ])
      return analyticsOf(window, spansBetween('day', from, now), counts, durations)
    },

    async tokenStats(runs) {
      const now = clock.now()
      const days = lastDays(7, now)
      const before = (days: number) => secondsLater(now, -days * daySeconds).toISOString()
      const [lifetime, lastDay, lastWeek, daily] = await Promise.all([
        store.tokens(runs, null),
        store.tokens(runs, before(1)),
        store.tokens(runs, before(7)),
        store.tokensByDay(runs, days[0] ?? before(7)),
      ])
      return tokenStatsOf(runs.agentName, days, { lifetime, lastDay, lastWeek, daily })
    },
  }
}
