import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { pageOf } from '../executions/run-page.ts'
import { type FailureGroup, filterOf, groupFailures } from './failures.ts'
import { stripOf } from './hours.ts'
import { moreClass, Part, Quiet, rowClass } from './part.tsx'
import { dayFailuresQuery, dayHours, dayTimelineQuery } from './queries.ts'

const maxGroups = 6
const maxAgents = 3
const failed = { status: 'failed', hours: dayHours } as const

/** The failed runs of the last day, grouped by their error. */
export function FailuresPart() {
  const api = useApi()
  const timeline = useQuery(dayTimelineQuery(api))
  const count = timeline.data ? stripOf(timeline.data.buckets).failed : null
  const runs = useQuery({ ...dayFailuresQuery(api), enabled: timeline.isError || (count ?? 0) > 0 })
  const groups = useMemo(() => groupFailures(runs.data?.rows ?? []), [runs.data])
  if (count === 0) return <Quiet>No failed runs in the last 24 hours.</Quiet>
  return (
    <Part query={runs} failure="Could not load the failed runs">
      {({ rows, total }) =>
        rows.length === 0 ? (
          <Quiet>No failed runs in the last 24 hours.</Quiet>
        ) : (
          <Card aria-label="Failures by cause">
            <CardHeader
              title="Failures by cause"
              description={
                total > rows.length
                  ? `The newest ${rows.length} of ${total.toLocaleString('en')} failed runs.`
                  : `${plural(total, 'failed run')} in the last 24 hours.`
              }
              actions={
                <Link to="/runs" search={failed} className={moreClass}>
                  All failed runs
                </Link>
              }
            />
            <ul aria-label="Causes of failures" className="-mx-2 flex flex-col">
              {groups.slice(0, maxGroups).map((group) => (
                <li key={group.key}>
                  <Cause group={group} />
                </li>
              ))}
            </ul>
            {groups.length > maxGroups && (
              <p className="mt-2 text-muted text-xs">
                {plural(groups.length - maxGroups, 'further cause')} with fewer runs.
              </p>
            )}
          </Card>
        )
      }
    </Part>
  )
}

/** A single run leads to its page, several to the list of runs. */
function Cause({ group }: { group: FailureGroup<ExecutionSummary> }) {
  const { label, runs, agents } = group
  const [newest, ...others] = runs
  const content = (
    <>
      <span className="line-clamp-2 font-medium [overflow-wrap:anywhere]">{label}</span>
      <span className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
        <Badge tone="danger">{plural(runs.length, 'run')}</Badge>
        <span className="min-w-0 truncate">
          {agents.slice(0, maxAgents).join(', ')}
          {agents.length > maxAgents && ` and ${agents.length - maxAgents} more`}
        </span>
        <RelativeTime at={newest.completed_at ?? newest.created_at} />
      </span>
    </>
  )
  return others.length === 0 ? (
    <Link {...pageOf(newest)} className={rowClass}>
      {content}
    </Link>
  ) : (
    <Link to="/runs" search={{ ...failed, ...filterOf(group) }} className={rowClass}>
      {content}
    </Link>
  )
}
