import type { ScheduleSummary } from '@roost/contracts/triggers/schedule-analytics'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { Copy, Ellipsis, Pencil, Play, Trash2 } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { Cost } from '../../ui/cost.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Switch } from '../../ui/switch.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { ExecutionStatus } from '../executions/execution-status.tsx'
import { cronWords } from './cron.ts'
import type { Editing } from './schedule-dialog.tsx'
import { zoneWords } from './time-words.ts'
import { outcomeWords, reasonWords, weekWords } from './words.ts'

/** A schedule with its statistics of the last seven days; null until loaded. */
export type ScheduleRow = Schedule & { week: ScheduleSummary['schedules'][number] | null }

export type ScheduleActions = {
  isOwner: boolean
  me: string | null
  toggle: (change: { id: string; enabled: boolean }) => void
  trigger: (schedule: Schedule) => void
  remove: (schedule: Schedule) => void
  edit: (editing: Editing) => void
}

export function scheduleColumns(actions: ScheduleActions): DataColumn<ScheduleRow>[] {
  return [
    {
      id: 'name',
      header: 'Schedule',
      grow: true,
      width: 190,
      sortValue: (row) => row.name.toLowerCase(),
      cell: (row) => <ScheduleName row={row} />,
    },
    {
      id: 'next',
      header: 'Next run',
      width: 110,
      priority: 2,
      sortValue: (row) => row.next_run_at,
      cell: (row) => <NextTime row={row} />,
    },
    {
      id: 'last',
      header: 'Last run',
      width: 170,
      priority: 2,
      sortValue: (row) => row.last_run_at,
      cell: (row) => <LastOutcome row={row} />,
    },
    {
      id: 'week',
      header: 'Runs, 7 days',
      width: 150,
      priority: 3,
      sortValue: (row) => row.week?.success_rate ?? null,
      cell: ({ week }) => <Week week={week} />,
    },
    {
      id: 'cost',
      header: 'Cost, 7 days',
      width: 120,
      align: 'end',
      priority: 3,
      sortValue: (row) => row.week?.cost_total ?? null,
      cell: (row) => <Cost usd={row.week?.cost_total} isEstimated={row.week?.cost_estimated} />,
    },
    {
      id: 'enabled',
      header: 'Enabled',
      width: 84,
      cell: (row) => (
        <Switch
          label={`Enable ${row.name}`}
          checked={row.enabled}
          disabled={!actions.isOwner}
          onCheckedChange={(enabled) => actions.toggle({ id: row.id, enabled })}
        />
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      width: 48,
      cell: (row) => <Actions row={row} actions={actions} />,
    },
  ]
}

function ScheduleName({ row }: { row: Schedule }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate font-medium">{row.name}</span>
      <span
        className="truncate font-normal text-muted text-xs"
        title={`${row.cron_expression}, ${row.timezone}`}
      >
        {cronWords(row.cron_expression) ?? row.cron_expression}
        {` · ${zoneWords(row.timezone)}`}
      </span>
    </span>
  )
}

export function NextTime({ row }: { row: Schedule }) {
  if (row.registration_error !== null) return <Badge tone="danger">{row.registration_error}</Badge>
  if (!row.enabled) return <span className="text-faint">Disabled</span>
  return <RelativeTime at={row.next_run_at} />
}

/** The last run, or why the last due time had none. */
export function LastOutcome({ row }: { row: Schedule }) {
  const { last_fire: fire, last_run_at, last_run_status } = row
  const isNewer = fire !== null && (last_run_at === null || fire.due_at > last_run_at)
  if (fire !== null && fire.outcome !== 'fired' && isNewer) {
    const { label, tone } = outcomeWords[fire.outcome]
    const why = fire.reason === null ? '' : reasonWords(fire.reason).title
    return (
      <span className="flex min-w-0 flex-col" title={why}>
        <StatusDot tone={tone} label={label} />
        <span className="truncate text-muted text-xs">{why || <RelativeTime at={fire.due_at} />}</span>
      </span>
    )
  }
  if (last_run_status === null) return <span className="text-faint">never</span>
  return (
    <span className="flex min-w-0 flex-col">
      <ExecutionStatus status={last_run_status} />
      <RelativeTime at={last_run_at} className="text-muted text-xs" />
    </span>
  )
}

function Week({ week }: { week: ScheduleRow['week'] }) {
  if (week === null || week.run_count === 0) return <span className="text-faint">No runs</span>
  const words = weekWords(week)
  return (
    <span className="flex min-w-0 flex-col">
      {plural(week.run_count, 'run')}
      {words && (
        <span
          className={cx('truncate text-xs', words.tone === 'danger' ? 'text-danger' : 'text-muted')}
          title={words.text}
        >
          {words.text}
        </span>
      )}
    </span>
  )
}

function Actions({ row, actions }: { row: ScheduleRow; actions: ScheduleActions }) {
  const { isOwner, me } = actions
  return (
    <Menu
      trigger={<IconButton size="sm" label={`Actions for ${row.name}`} icon={<Ellipsis aria-hidden />} />}
      items={[
        isOwner && {
          label: 'Trigger now',
          icon: <Play aria-hidden />,
          onSelect: () => actions.trigger(row),
        },
        (isOwner || row.created_by === me) && {
          label: 'Edit',
          icon: <Pencil aria-hidden />,
          onSelect: () => actions.edit({ stored: row, from: null }),
        },
        {
          label: 'Duplicate',
          icon: <Copy aria-hidden />,
          onSelect: () => actions.edit({ stored: null, from: copyOf(row) }),
        },
        isOwner && 'separator',
        isOwner && {
          label: 'Delete',
          icon: <Trash2 aria-hidden />,
          danger: true,
          onSelect: () => actions.remove(row),
        },
      ]}
    />
  )
}

export function copyOf(schedule: Schedule): Partial<Schedule> {
  return { ...schedule, name: `${schedule.name.slice(0, 190)} (copy)`, enabled: false }
}
