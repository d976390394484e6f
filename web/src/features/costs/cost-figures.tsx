import type { Costs } from '@roost/contracts/runs/costs'
import { formatCost, plural } from '../../lib/format.ts'
import { Cost } from '../../ui/cost.tsx'
import { StatCard } from '../../ui/stat-card.tsx'

/** The total of the period, and the forecast of the current month. */
export function CostFigures({ costs }: { costs: Costs }) {
  const { forecast } = costs
  const month = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(
    Date.parse(`${forecast.month}-01`),
  )
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <StatCard
        label="Cost of the period"
        value={<Cost usd={costs.total_cost} isEstimated={costs.cost_estimated} />}
        hint={plural(costs.runs, 'run')}
      />
      <StatCard
        label="Average per day"
        value={<Cost usd={costs.total_cost / costs.days.length} isEstimated={costs.cost_estimated} />}
        hint={plural(costs.days.length, 'day')}
      />
      <StatCard
        label="This month"
        value={<Cost usd={forecast.spent} isEstimated={forecast.cost_estimated} />}
        hint={`${month} so far (UTC)`}
      />
      <StatCard
        label="Forecast"
        value={<Cost usd={forecast.expected} isEstimated={forecast.cost_estimated} />}
        hint={`${month}, at ${formatCost(forecast.daily_average)} a day`}
      />
    </div>
  )
}
