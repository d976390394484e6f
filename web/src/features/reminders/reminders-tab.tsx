import type { AgentDetails } from '@roost/contracts/agents/agent'
import { cancelReminder, type Reminder, type ReminderStatus } from '@roost/contracts/triggers/reminders'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AlarmClock, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { firstLine } from '../executions/first-line.ts'
import { maxReminders, reminderKeys, remindersQuery } from './queries.ts'
import { ReminderDialog } from './reminder-dialog.tsx'

const choices = [
  { value: 'pending', label: 'Pending' },
  { value: 'all', label: 'All' },
] as const

/** Messages that an agent is sent once at a given time. Agents and owners can create them. */
export function RemindersTab({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const isOwner = agent.is_owner || agent.can_delete
  const [status, setStatus] = useState<'pending' | 'all'>('pending')
  const [isSetting, setSetting] = useState(false)
  const reminders = useQuery(remindersQuery(useApi(), name, status))
  const { pending, cancel } = useCancel(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the action never changes, so the columns are memoized
  const columns = useMemo(() => columnsOf(isOwner ? cancel : null), [isOwner])
  const rows = (reminders.data ?? []).filter(({ id }) => !pending.has(id))
  return (
    <section aria-label="Reminders" className="min-w-0">
      <CardHeader
        title="Reminders"
        description="One-time messages to the agent, up to 30 days ahead. Agents can create reminders for themselves."
        actions={
          isOwner && (
            <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setSetting(true)}>
              Create reminder
            </Button>
          )
        }
      />
      <Segmented
        label="Status"
        size="sm"
        options={choices}
        value={status}
        onValueChange={setStatus}
        className="mb-3"
      />
      {reminders.isError && !reminders.data ? (
        <ErrorState
          title="Could not load the reminders"
          error={reminders.error}
          onRetry={() => void reminders.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Reminders"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => firstLine(row.message)}
          rowHeight={48}
          sort={null}
          isLoading={reminders.isPending}
          empty={
            <EmptyState
              icon={<AlarmClock aria-hidden />}
              title={status === 'pending' ? 'No pending reminders' : 'No reminders yet'}
              description="Ask the agent in a chat to remind itself, or create a reminder here."
            />
          }
          footer={
            rows.length >= maxReminders ? (
              <span className="text-muted text-xs">The first {maxReminders} are shown.</span>
            ) : undefined
          }
        />
      )}
      <ReminderDialog name={name} isOpen={isSetting} onClose={() => setSetting(false)} />
    </section>
  )
}

function useCancel(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const cancel = ({ id, message }: Reminder) =>
    later({
      id,
      title: 'Reminder cancelled.',
      description: firstLine(message, 80),
      run: async () => {
        try {
          await api.call(cancelReminder, { params: { name, id } })
        } catch (error) {
          const { sentence, code } = describeFault(error)
          toast({ title: sentence, description: code, tone: 'danger' })
        }
        await queries.invalidateQueries({ queryKey: reminderKeys.ofAgent(name) })
      },
    })
  return { pending, cancel }
}

const statusWords: Record<
  ReminderStatus,
  { label: string; tone: 'accent' | 'info' | 'success' | 'neutral' | 'danger' }
> = {
  pending: { label: 'Pending', tone: 'info' },
  firing: { label: 'Sending', tone: 'accent' },
  fired: { label: 'Sent', tone: 'success' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'danger' },
}

function columnsOf(cancel: ((reminder: Reminder) => void) | null): DataColumn<Reminder>[] {
  return [
    {
      id: 'message',
      header: 'Message',
      grow: true,
      width: 140,
      cell: (row) => <span title={row.message}>{firstLine(row.message)}</span>,
    },
    { id: 'at', header: 'Time', width: 100, cell: (row) => <RelativeTime at={row.fire_at} /> },
    {
      id: 'status',
      header: 'Status',
      width: 150,
      priority: 2,
      cell: (row) =>
        row.autonomy_hold ? (
          <span title="The reminder is sent when the agent’s autonomy is on again.">
            <Badge tone="warning">Autonomy is off</Badge>
          </span>
        ) : (
          <span title={row.error ?? undefined}>
            <StatusDot {...statusWords[row.status]} />
          </span>
        ),
    },
    {
      id: 'do',
      header: 'Actions',
      hideHeader: true,
      width: 90,
      align: 'end',
      cell: (row) => {
        if (row.execution_id !== null) {
          return (
            <Link
              to="/agents/$name/executions/$id"
              params={{ name: row.agent_name, id: row.execution_id }}
              className="text-accent hover:underline"
            >
              View run
            </Link>
          )
        }
        if (row.status !== 'pending' || cancel === null) return null
        return (
          <Button size="sm" variant="ghost" onClick={() => cancel(row)}>
            Cancel
          </Button>
        )
      },
    },
  ]
}
