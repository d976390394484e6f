import type { Costs } from '@roost/contracts/runs/costs'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCost, formatPercent } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Cost } from '../../ui/cost.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { queueStatsQuery } from '../operator-queue/stats-query.ts'
import { platformBudget } from './budgets.ts'
import { stripOf } from './hours.ts'
import { dayHours, dayTimelineQuery, todayCostsQuery } from './queries.ts'

/** The parts below report failed requests. */
const unknown = '–'

/** What waits, what ran, what failed, and the cost. Each figure leads to its list. `today`: in UTC. */
export function Figures({ today }: { today: string }) {
  const api = useApi()
  const queue = useQuery(queueStatsQuery(api)).data
  const timeline = useQuery(dayTimelineQuery(api)).data
  const costs = useQuery(todayCostsQuery(api, today)).data
  const runs = timeline && stripOf(timeline.buckets)
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <StatCard
        label="Waiting for you"
        value={queue?.pending ?? unknown}
        hint="questions and alerts"
        tone={queue?.by_priority.critical ? 'danger' : 'neutral'}
        to={(card) => <Link to="/inbox" {...card} />}
      />
      <StatCard
        label="Runs, 24 h"
        value={runs?.total.toLocaleString('en') ?? unknown}
        hint={runs && `${runs.succeeded.toLocaleString('en')} succeeded`}
        to={(card) => <Link to="/runs" search={{ hours: dayHours }} {...card} />}
      />
      <StatCard
        label="Failed runs, 24 h"
        value={runs?.failed.toLocaleString('en') ?? unknown}
        hint={runs && runs.total > 0 && `${formatPercent(runs.failed / runs.total)} of all runs`}
        tone={runs?.failed ? 'danger' : 'neutral'}
        to={(card) => <Link to="/runs" search={{ status: 'failed', hours: dayHours }} {...card} />}
      />
      <StatCard
        label="Cost today (UTC)"
        value={<Cost usd={costs?.total_cost} isEstimated={costs?.cost_estimated} />}
        hint={costs && limitWords(costs)}
        tone={costs ? (platformBudget(costs.limits)?.tone ?? 'neutral') : 'neutral'}
        to={(card) => <Link to="/costs" search={{ from: today, to: today }} {...card} />}
      />
    </div>
  )
}

function limitWords({ limits }: Costs): string {
  const limit = platformBudget(limits)?.limit
  if (!limit) return 'all agents'
  return `${formatPercent(limit.spent_today_usd / limit.daily_usd)} of the daily limit of ${formatCost(limit.daily_usd)}`
}
