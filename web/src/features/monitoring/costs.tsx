import type { FleetCosts } from '@roost/contracts/operations/fleet'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatCompact, formatCost, formatPercent, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Cost } from '../../ui/cost.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Meter } from '../../ui/progress.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { costsQuery } from './queries.ts'

/** Maximum rows of each list. */
const shown = 5

/** The cost of the runs of the last 24 hours, for admins. */
export function Costs() {
  const costs = useQuery(costsQuery(useApi()))
  return (
    <Card aria-label="Costs">
      <CardHeader title="Costs" />
      {costs.isError && !costs.data ? (
        <ErrorState
          title="Could not load the costs"
          error={costs.error}
          onRetry={() => void costs.refetch()}
        />
      ) : costs.data ? (
        <Figures costs={costs.data} />
      ) : (
        <Skeleton className="h-24" />
      )}
    </Card>
  )
}

function Figures({ costs: { summary, cost_by_model, cost_by_agent } }: { costs: FleetCosts }) {
  const { daily_limit: limit, cost_today: today } = summary
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm">
        <Cost
          usd={summary.total_cost}
          isEstimated={summary.cost_estimated}
          className="font-semibold text-2xl tracking-tight"
        />{' '}
        <span className="text-muted">in the last 24 h, for {formatCompact(summary.total_tokens)} tokens</span>
      </p>
      {limit !== null && (
        <Meter
          label="Today (UTC), of the daily alert limit"
          value={today}
          max={limit}
          text={`${formatCost(today)} of ${formatCost(limit)}, ${formatPercent(today / limit)}`}
        />
      )}
      <div className="grid gap-x-10 gap-y-4 sm:grid-cols-2">
        <Dearest title="By model">
          {cost_by_model.slice(0, shown).map(({ model, cost, cost_estimated }) => (
            <CostRow
              key={model ?? ''}
              name={model ?? 'Unknown model'}
              cost={cost}
              isEstimated={cost_estimated}
            />
          ))}
        </Dearest>
        <Dearest title="By agent">
          {cost_by_agent.slice(0, shown).map(({ agent_name: name, cost, cost_estimated, executions }) => (
            <CostRow
              key={name}
              cost={cost}
              isEstimated={cost_estimated}
              name={
                <Link to="/agents/$name" params={{ name }} className="hover:underline">
                  {name}
                </Link>
              }
              hint={plural(executions, 'run')}
            />
          ))}
        </Dearest>
      </div>
    </div>
  )
}

function Dearest({ title, children }: { title: string; children: ReactNode[] }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-medium text-muted text-xs">{title}</h3>
      {children.length > 0 ? <ul>{children}</ul> : <p className="text-muted text-sm">No runs.</p>}
    </div>
  )
}

function CostRow(props: { name: ReactNode; cost: number; isEstimated: boolean; hint?: string }) {
  const { name, cost, isEstimated, hint } = props
  return (
    <li className="flex items-baseline gap-3 border-t border-line py-1.5 text-sm first:border-t-0">
      <span className="min-w-0 flex-1 truncate">{name}</span>
      {hint && <span className="shrink-0 text-muted text-xs">{hint}</span>}
      <Cost usd={cost} isEstimated={isEstimated} className="shrink-0" />
    </li>
  )
}
