import type { CostLimit } from '@roost/contracts/runs/costs'
import { costText, formatCost } from '../../lib/format.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Meter } from '../../ui/progress.tsx'

/** The daily limits. The figure beside each covers its own period: today in UTC. */
export function CostLimits({ limits }: { limits: readonly CostLimit[] }) {
  if (limits.length === 0) return null
  return (
    <Card aria-label="Daily limits">
      <CardHeader title="Daily limits" description="The cost of today in UTC, whatever period is shown." />
      <ul className="flex flex-col gap-3">
        {limits.map((limit) => (
          <li key={limit.agent_name ?? ''}>
            <Meter
              label={limit.agent_name === null ? 'All agents (alert)' : `${limit.agent_name} (spend cap)`}
              value={limit.spent_today_usd}
              max={limit.daily_usd}
              text={`${costText(limit.spent_today_usd, limit.cost_estimated)} of ${formatCost(limit.daily_usd)}`}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}
