import type { AgentDetails } from '@roost/contracts/agents/agent'
import { ApiError } from '@roost/contracts/client'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft, Copy, Ellipsis, Pencil, Play, Trash2 } from 'lucide-react'
import { type ReactNode, Suspense } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass, IconButton } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { TabLinks, tabLinkClass } from '../../ui/tabs.tsx'
import { meQuery } from '../users/queries.ts'
import { useScheduleSwitch, useTriggerSchedule } from './actions.ts'
import { cronWords } from './cron.ts'
import { DueHistory } from './due-history.tsx'
import { scheduleQuery } from './queries.ts'
import { copyOf } from './schedule-columns.tsx'
import type { Editing } from './schedule-dialog.tsx'
import { ScheduleFacts } from './schedule-facts.tsx'
import { ScheduleRuns } from './schedule-runs.tsx'
import { zoneWords } from './time-words.ts'

const route = getRouteApi('/signed-in/agents/$name')

const ScheduleCharts = lazyPart(async () => (await import('./schedule-charts.tsx')).ScheduleCharts)
const WebhookPanel = lazyPart(async () => (await import('../webhooks/webhook-panel.tsx')).WebhookPanel)

type PanelProps = {
  agent: AgentDetails
  id: string
  onEdit: (editing: Editing) => void
  onRemove: (schedule: Schedule) => void
}

/** One schedule: overview, runs, due times and webhook. */
export function SchedulePanel(props: PanelProps) {
  const { agent, id } = props
  const schedule = useQuery(scheduleQuery(useApi(), agent.name, id))
  if (schedule.data) return <Loaded {...props} schedule={schedule.data} />
  if (schedule.error instanceof ApiError && schedule.error.status === 404) {
    return (
      <EmptyState
        title="Schedule not found"
        description="The schedule may have been deleted. Its runs are still listed under “Runs”."
        action={
          <Link to="." search={{ tab: 'schedules' }} className={buttonClass()}>
            Go to schedules
          </Link>
        }
      />
    )
  }
  if (!schedule.error) return <Skeleton className="h-72 w-full" />
  return (
    <ErrorState
      title="Could not load the schedule"
      error={schedule.error}
      onRetry={() => void schedule.refetch()}
    />
  )
}

type LoadedProps = PanelProps & { schedule: Schedule }

function Loaded(props: LoadedProps) {
  const { agent, schedule } = props
  const { part } = route.useSearch()
  const isOwner = agent.is_owner || agent.can_delete
  const parts = partsOf(agent, schedule).filter(({ who }) => who === 'access' || isOwner)
  const chosen = parts.find(({ id }) => id === part) ?? parts[0]
  return (
    <section aria-label={schedule.name} className="flex min-w-0 flex-col">
      <Head {...props} isOwner={isOwner} />
      <TabLinks label="Schedule tabs" className="mb-4">
        {parts.map(({ id, label }) => (
          <Link
            key={id}
            to="."
            search={{ tab: 'schedules', schedule: schedule.id, ...(id === 'overview' ? {} : { part: id }) }}
            className={tabLinkClass}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={id === chosen?.id ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </TabLinks>
      <Suspense fallback={<Skeleton className="h-60 w-full" />}>{chosen?.content}</Suspense>
    </section>
  )
}

type Part = { id: string; label: string; who: 'access' | 'owner'; content: ReactNode }

function partsOf({ name }: AgentDetails, schedule: Schedule): Part[] {
  const of = { name, schedule }
  return [
    {
      id: 'overview',
      label: 'Overview',
      who: 'access',
      content: (
        <div className="flex min-w-0 flex-col gap-6">
          <ScheduleFacts {...of} />
          <ScheduleCharts {...of} />
        </div>
      ),
    },
    { id: 'runs', label: 'Runs', who: 'access', content: <ScheduleRuns {...of} /> },
    { id: 'due', label: 'Due times', who: 'access', content: <DueHistory {...of} /> },
    { id: 'webhook', label: 'Webhook', who: 'owner', content: <WebhookPanel {...of} /> },
  ]
}

function Head({ agent, schedule, isOwner, onEdit, onRemove }: LoadedProps & { isOwner: boolean }) {
  const api = useApi()
  const navigate = useNavigate()
  const { data: me } = useQuery(meQuery(api))
  const toggle = useScheduleSwitch(agent.name)
  const trigger = useTriggerSchedule(agent.name, (id) => {
    void navigate({ to: '/agents/$name/executions/$id', params: { name: agent.name, id } })
  })
  return (
    <header className="mb-2 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
      <div className="min-w-0 flex-1 basis-64">
        <Link
          to="."
          search={{ tab: 'schedules' }}
          className="mb-1 inline-flex items-center gap-1 text-muted text-xs hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-3" />
          All schedules
        </Link>
        <h2 className="font-semibold text-lg [overflow-wrap:anywhere]">{schedule.name}</h2>
        <p className="mt-0.5 text-muted text-sm">
          {cronWords(schedule.cron_expression) ?? schedule.cron_expression}, {zoneWords(schedule.timezone)}{' '}
          {schedule.registration_error !== null && <Badge tone="danger">{schedule.registration_error}</Badge>}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Field label="Enabled" layout="row" className="items-center! sm:mr-2">
          <Switch
            checked={schedule.enabled}
            disabled={!isOwner}
            onCheckedChange={(enabled) => toggle.mutate({ id: schedule.id, enabled })}
          />
        </Field>
        {isOwner && (
          <Button
            icon={<Play aria-hidden />}
            pending={trigger.isPending}
            onClick={() => trigger.mutate(schedule)}
          >
            <span>
              Trigger<span className="max-sm:sr-only"> now</span>
            </span>
          </Button>
        )}
        {(isOwner || schedule.created_by === me?.username) && (
          <Button icon={<Pencil aria-hidden />} onClick={() => onEdit({ stored: schedule, from: null })}>
            Edit
          </Button>
        )}
        <Menu
          trigger={
            <IconButton
              variant="secondary"
              label="More actions for this schedule"
              icon={<Ellipsis aria-hidden />}
            />
          }
          items={[
            {
              label: 'Duplicate',
              icon: <Copy aria-hidden />,
              onSelect: () => onEdit({ stored: null, from: copyOf(schedule) }),
            },
            isOwner && 'separator',
            isOwner && {
              label: 'Delete',
              icon: <Trash2 aria-hidden />,
              danger: true,
              onSelect: () => onRemove(schedule),
            },
          ]}
        />
      </div>
    </header>
  )
}
