import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { costText, formatCost } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { type Budget, usedBudgets } from './budgets.ts'
import { Part, Quiet, rowClass } from './part.tsx'
import { todayCostsQuery } from './queries.ts'

/** The agents at or near their daily spend cap. `today`: in UTC. */
export function BudgetsPart({ today }: { today: string }) {
  const costs = useQuery(todayCostsQuery(useApi(), today))
  return (
    <Part query={costs} failure="Could not load the costs">
      {({ limits }) => {
        const budgets = usedBudgets(limits)
        if (limits.every(({ kind }) => kind === 'platform')) return null
        if (budgets.length === 0) return <Quiet>No agent is close to its spend cap.</Quiet>
        return (
          <Card aria-label="Spend caps">
            <CardHeader
              title="Spend caps"
              description="Runs of an agent fail when its daily cap (UTC) is used up."
            />
            <ul aria-label="Agents close to their spend cap" className="-mx-2 flex flex-col">
              {budgets.map((budget) => (
                <li key={budget.agent}>
                  <Row budget={budget} today={today} />
                </li>
              ))}
            </ul>
          </Card>
        )
      }}
    </Part>
  )
}

function Row({ budget: { agent, isOver, limit }, today }: { budget: Budget; today: string }) {
  return (
    <Link to="/costs" search={{ agent, from: today, to: today }} className={rowClass}>
      <span className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="min-w-0 truncate font-medium">{agent}</span>
        <Badge tone={isOver ? 'danger' : 'warning'}>{isOver ? 'Over budget' : 'Close to the cap'}</Badge>
        <span data-numeric className="ml-auto text-muted">
          {costText(limit.spent_today_usd, limit.cost_estimated)} of {formatCost(limit.daily_usd)}
        </span>
      </span>
    </Link>
  )
}
