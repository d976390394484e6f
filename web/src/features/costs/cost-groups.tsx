import type { Costs } from '@roost/contracts/runs/costs'
import { Link } from '@tanstack/react-router'
import { formatNumber, formatPercent } from '../../lib/format.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type CostGroup, groupings, labelOf, runsOf } from './groups.ts'
import type { CostFilter } from './queries.ts'

/** The groups of the period with their shares. Each leads to its runs. */
export function CostGroups({ costs, filter }: { costs: Costs; filter: CostFilter }) {
  const { group_by: by, groups, total_cost: total, overlaps } = costs
  const heading = groupings.find(({ value }) => value === by)?.label ?? by
  return (
    <Card aria-label={`Costs by ${by}`}>
      <CardHeader
        title={`By ${by}`}
        {...(overlaps
          ? { description: 'Agents with several tags count for each of them, so the shares exceed 100%.' }
          : {})}
      />
      <table className="w-full table-fixed text-sm tabular-nums">
        <thead className="text-left text-muted text-xs">
          <tr>
            <th scope="col" className="pb-1 font-medium">
              {heading}
            </th>
            <th scope="col" className="w-16 pb-1 text-right font-medium">
              Runs
            </th>
            <th scope="col" className="w-24 pb-1 text-right font-medium">
              Cost
            </th>
            <th scope="col" className="w-14 pb-1 text-right font-medium">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={`${group.kind} ${group.label}`} className="border-t border-line">
              <th scope="row" className="truncate py-1.5 text-left font-normal">
                <GroupName group={group} filter={filter} />
              </th>
              <td className="text-right text-muted">{formatNumber(group.runs)}</td>
              <td className="text-right">
                <Cost usd={group.cost} isEstimated={group.cost_estimated} />
              </td>
              <td className="text-right text-muted">{formatPercent(group.cost / total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function GroupName({ group, filter }: { group: CostGroup; filter: CostFilter }) {
  const label = labelOf(filter.by, group)
  const search = runsOf(filter.by, group, filter)
  if (!search) return <span className="text-muted">{label}</span>
  return (
    <Link to="/runs" search={search} className="underline-offset-2 hover:underline" title={label}>
      {label}
    </Link>
  )
}
