import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { formatDuration, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Card } from '../../ui/card.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { DueTimes } from './due-times.tsx'
import { nextRunsQuery } from './queries.ts'
import { zoneWords } from './time-words.ts'
import { misfireChoices, outcomeWords, reasonWords } from './words.ts'

type ScheduleOf = { name: string; schedule: Schedule }

/** The message, the next due times and the limits. */
export function ScheduleFacts({ name, schedule }: ScheduleOf) {
  return (
    <>
      <WhyNot schedule={schedule} />
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card>
          {schedule.description && <p className="mb-3 text-muted text-sm">{schedule.description}</p>}
          <h3 className="mb-1.5 font-medium text-sm">Message</h3>
          <PlainText text={schedule.message} label="Message" />
        </Card>
        <Card>
          <h3 className="mb-1.5 font-medium text-sm">Next due times</h3>
          <Next name={name} schedule={schedule} />
          <Limits schedule={schedule} />
        </Card>
      </div>
    </>
  )
}

/** Explains why the last due time had no run. */
function WhyNot({ schedule: { last_fire: fire } }: Pick<ScheduleOf, 'schedule'>) {
  if (fire === null || fire.outcome === 'fired') return null
  const why = fire.reason === null ? null : reasonWords(fire.reason)
  return (
    <Banner
      tone={fire.outcome === 'missed' ? 'danger' : 'warning'}
      title={
        <>
          {outcomeWords[fire.outcome].label} <RelativeTime at={fire.due_at} />
          {why && `: ${why.title}`}
        </>
      }
    >
      {why?.hint}
    </Banner>
  )
}

function Next({ name, schedule }: ScheduleOf) {
  const next = useQuery(nextRunsQuery(useApi(), name, schedule.id))
  if (next.isPending) return <Skeleton className="h-28 w-full" />
  if (!next.data) return <p className="text-danger text-sm">Could not load the next due times.</p>
  if (next.data.next.length === 0) return <p className="text-muted text-sm">This schedule is never due.</p>
  return (
    <>
      {!schedule.enabled && <p className="mb-1 text-muted text-xs">When enabled again:</p>}
      <DueTimes times={next.data.next} zone={next.data.timezone} />
    </>
  )
}

function Limits({ schedule }: Pick<ScheduleOf, 'schedule'>) {
  const misfire = misfireChoices.find(({ value }) => value === schedule.misfire_policy)
  return (
    <KeyValues
      className="mt-3 border-t pt-3"
      items={[
        { label: 'Cron', value: <code className="text-xs">{schedule.cron_expression}</code> },
        { label: 'Time zone', value: zoneWords(schedule.timezone) },
        { label: 'Missed due times', value: misfire?.label },
        {
          label: 'Timeout',
          value:
            schedule.timeout_seconds === null
              ? 'agent default'
              : formatDuration(schedule.timeout_seconds * 1000),
        },
        { label: 'Model', value: schedule.model ?? 'agent default' },
        { label: 'Tools', value: schedule.allowed_tools?.join(', ') ?? 'all tools of the agent' },
        {
          label: 'Retries',
          value:
            schedule.max_retries === 0
              ? 'none'
              : `${schedule.max_retries}, after ${plural(schedule.retry_delay_seconds, 'second')}`,
        },
        schedule.deliver_to_workspace_email !== null && {
          label: 'Delivered to',
          value: schedule.deliver_to_workspace_email,
        },
        { label: 'Validation', value: schedule.validation_enabled ? 'after each successful run' : 'none' },
        schedule.undo_failed && { label: 'Failed runs', value: 'undone' },
        {
          label: 'Created',
          value: (
            <>
              by {schedule.created_by}, <RelativeTime at={schedule.created_at} />
            </>
          ),
        },
      ]}
    />
  )
}
