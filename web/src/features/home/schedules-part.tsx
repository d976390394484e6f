import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { fleetSchedulesQuery } from '../schedules/fleet-queries.ts'
import { reasonWords } from '../schedules/words.ts'
import { type Lateness, lateSchedules } from './late-schedules.ts'
import { moreClass, Part, Quiet, rowClass } from './part.tsx'

const maxSchedules = 5

/** The schedules that are overdue, missed a due time or never fire. For admins. `now`: in Unix ms. */
export function SchedulesPart({ now }: { now: number }) {
  const fleet = useQuery(fleetSchedulesQuery(useApi()))
  const late = useMemo(() => lateSchedules(fleet.data?.schedules ?? [], now), [fleet.data, now])
  return (
    <Part query={fleet} failure="Could not load the schedules">
      {({ summary }) =>
        summary.enabled === 0 ? null : late.length === 0 ? (
          <Quiet>No schedule is overdue, and none missed a run in the last 24 hours.</Quiet>
        ) : (
          <Card aria-label="Late schedules">
            <CardHeader
              title="Late schedules"
              description="Overdue, or missed in the last 24 hours."
              actions={
                <Link to="/schedules" className={moreClass}>
                  All schedules
                </Link>
              }
            />
            <ul aria-label="Overdue and missed schedules" className="-mx-2 flex flex-col">
              {late.slice(0, maxSchedules).map((each) => (
                <li key={each.schedule.id}>
                  <Row schedule={each.schedule} late={each.late} />
                </li>
              ))}
            </ul>
            {late.length > maxSchedules && (
              <p className="mt-2 text-muted text-xs">And {late.length - maxSchedules} more.</p>
            )}
          </Card>
        )
      }
    </Part>
  )
}

const words = {
  invalid: { label: 'Never fires', tone: 'danger' },
  overdue: { label: 'Overdue', tone: 'danger' },
  missed: { label: 'Missed', tone: 'warning' },
} as const

type RowProps = { schedule: Pick<Schedule, 'id' | 'name' | 'agent_name'>; late: Lateness }

function Row({ schedule: { id, name, agent_name: agent }, late }: RowProps) {
  const { label, tone } = words[late.problem]
  return (
    <Link
      to="/agents/$name"
      params={{ name: agent }}
      search={{ tab: 'schedules', schedule: id }}
      className={rowClass}
    >
      <span className="block truncate font-medium">{name}</span>
      <span className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
        <Badge tone={tone}>{label}</Badge>
        <span className="min-w-0 truncate">{agent}</span>
        <span>{late.problem === 'invalid' ? late.error : <RelativeTime at={late.dueAt} />}</span>
        {late.problem === 'missed' && late.reason !== null && <span>{reasonWords(late.reason).title}</span>}
      </span>
    </Link>
  )
}
