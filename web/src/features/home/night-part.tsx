import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { runStatsQuery } from '../agents/queries.ts'
import { busiestOf, type Strip, stripOf } from './hours.ts'
import { moreClass, Part, Quiet, wordLinkClass } from './part.tsx'
import { dayHours, dayTimelineQuery } from './queries.ts'
import { HourStrip } from './strip.tsx'

const maxAgents = 8

/** The runs of the last day by hour, and the agents that ran. */
export function NightPart() {
  const timeline = useQuery(dayTimelineQuery(useApi()))
  return (
    <Part query={timeline} failure="Could not load the runs of the last 24 hours">
      {({ buckets }) => {
        const strip = stripOf(buckets)
        if (strip.total === 0) return <Quiet>No runs in the last 24 hours.</Quiet>
        return (
          <Card aria-label="Last 24 hours">
            <CardHeader
              title="Last 24 hours"
              description={<Outcomes strip={strip} />}
              actions={
                <Link to="/runs" search={{ hours: dayHours }} className={moreClass}>
                  All runs
                </Link>
              }
            />
            <HourStrip strip={strip} />
            <WhoRan />
          </Card>
        )
      }}
    </Part>
  )
}

function Outcomes({ strip: { succeeded, failed, other } }: { strip: Strip }) {
  const search = { hours: dayHours }
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <Link to="/runs" search={{ ...search, status: 'success' }} className={wordLinkClass}>
        {succeeded.toLocaleString('en')} succeeded
      </Link>
      <Link to="/runs" search={{ ...search, status: 'failed' }} className={wordLinkClass}>
        {failed.toLocaleString('en')} failed
      </Link>
      {other > 0 && <span>{other.toLocaleString('en')} cancelled, skipped or not finished</span>}
    </span>
  )
}

function WhoRan() {
  const stats = useQuery(runStatsQuery(useApi()))
  return (
    <div className="mt-4 border-t border-line pt-3">
      <Part query={stats} failure="Could not load the agents that ran">
        {({ agents }) => {
          const busiest = busiestOf(agents)
          return (
            <ul aria-label="Agents that ran" className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
              {busiest.slice(0, maxAgents).map(({ name, task_count, failed_count }) => (
                <li key={name} className="min-w-0">
                  <Link
                    to="/runs"
                    search={{ agent: name, hours: dayHours }}
                    className="flex min-w-0 items-baseline gap-1.5 py-0.5 hover:underline"
                  >
                    <span className="truncate font-medium">{name}</span>
                    <span className="shrink-0 text-muted text-xs">
                      {plural(task_count, 'run')}
                      {failed_count > 0 && `, ${failed_count} failed`}
                    </span>
                  </Link>
                </li>
              ))}
              {busiest.length > maxAgents && (
                <li>
                  <Link to="/agents" className={moreClass}>
                    and {plural(busiest.length - maxAgents, 'more agent')}
                  </Link>
                </li>
              )}
            </ul>
          )
        }}
      </Part>
    </div>
  )
}
