import type { TokenStats } from '@roost/contracts/runs/analytics'
import { useQuery } from '@tanstack/react-query'
import { formatCompact, formatDate, formatNumber } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { Cost } from '../../ui/cost.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { tokenStatsQuery } from './queries.ts'

/** Tokens and cost of the last day, the last week and in total. */
export function SpendCard({ name }: { name: string }) {
  const stats = useQuery(tokenStatsQuery(useApi(), name))
  return (
    <Card aria-label="Tokens and cost">
      <CardHeader title="Tokens and cost" />
      {stats.data ? (
        <Spend stats={stats.data} />
      ) : stats.error ? (
        <ErrorState error={stats.error} onRetry={() => void stats.refetch()} />
      ) : (
        <Skeleton className="h-40" />
      )}
    </Card>
  )
}

function Spend({ stats }: { stats: TokenStats }) {
  const rows = [
    { label: 'Last 24 hours', used: stats.last_24h },
    { label: 'Last 7 days', used: stats.last_7d },
    { label: 'Total', used: stats.lifetime },
  ]
  const days = stats.daily
  return (
    <div className="grid min-w-0 items-center gap-x-10 gap-y-6 lg:grid-cols-2">
      <table className="w-full text-sm tabular-nums">
        <thead className="text-left text-muted text-xs">
          <tr>
            <th scope="col" className="pb-1 font-medium">
              <span className="sr-only">Period</span>
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Input
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Output
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, used }) => (
            <tr key={label} className="border-t border-line">
              <th scope="row" className="py-1.5 text-left font-normal text-muted">
                {label}
              </th>
              <td className="text-right" title={formatNumber(used.input_tokens)}>
                {formatCompact(used.input_tokens)}
              </td>
              <td className="text-right" title={formatNumber(used.output_tokens)}>
                {formatCompact(used.output_tokens)}
              </td>
              <td className="text-right">
                <Cost usd={used.cost} isEstimated={used.cost_estimated} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {stats.lifetime.input_tokens > 0 && (
        <StackedBars
          label="Tokens per day"
          height={140}
          format={formatCompact}
          series={[
            { id: 'in', label: 'Input tokens' },
            { id: 'out', label: 'Output tokens', tone: 'info' },
          ]}
          data={days.map(({ date, input_tokens, output_tokens }) => ({
            label: formatDate(Date.parse(date), Date.parse(date), { timeZone: 'UTC' }),
            values: { in: input_tokens, out: output_tokens },
          }))}
        />
      )}
    </div>
  )
}
