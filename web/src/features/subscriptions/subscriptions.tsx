import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { EventSubscription } from '@roost/contracts/triggers/events'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Pencil, Plus, Radio, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Switch } from '../../ui/switch.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { firstLine } from '../executions/first-line.ts'
import { useSubscriptionRemoval, useSubscriptionSwitch } from './actions.ts'
import { type Direction, subscriptionsQuery } from './queries.ts'
import { SubscriptionDialog } from './subscription-dialog.tsx'

const directions = [
  { value: 'subscriber', label: 'Incoming' },
  { value: 'source', label: 'Outgoing' },
] as const

/** Subscriptions of this agent, and of other agents to its events. */
export function Subscriptions({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const isOwner = agent.is_owner || agent.can_delete
  const [direction, setDirection] = useState<Direction>('subscriber')
  const [editing, setEditing] = useState<EventSubscription | 'new' | null>(null)
  const subscriptions = useQuery(subscriptionsQuery(useApi(), name, direction))
  const { pending, remove } = useSubscriptionRemoval(name)
  const toggle = useSubscriptionSwitch(name).mutate
  const mayChange = isOwner && direction === 'subscriber'
  // biome-ignore lint/correctness/useExhaustiveDependencies: the actions never change, so the columns are memoized
  const columns = useMemo(() => columnsOf({ mayChange, toggle, remove, edit: setEditing }), [mayChange])
  const rows = (subscriptions.data ?? []).filter(({ id }) => !pending.has(id))
  return (
    <section aria-label="Subscriptions" className="min-w-0">
      <CardHeader
        title="Subscriptions"
        description="An event of another agent or of a user sends a message to this agent."
        actions={
          isOwner && (
            <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
              New subscription
            </Button>
          )
        }
      />
      <Segmented
        label="Direction"
        size="sm"
        options={directions}
        value={direction}
        onValueChange={setDirection}
        className="mb-3"
      />
      {subscriptions.isError && !subscriptions.data ? (
        <ErrorState
          title="Could not load the subscriptions"
          error={subscriptions.error}
          onRetry={() => void subscriptions.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Event subscriptions"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.event_type}
          rowHeight={52}
          sort={null}
          isLoading={subscriptions.isPending}
          empty={
            <EmptyState
              icon={<Radio aria-hidden />}
              title={
                direction === 'source' ? 'No agent is subscribed to its events' : 'No event subscriptions'
              }
              description={
                direction === 'source'
                  ? 'Create subscriptions on the page of the agent that should receive the event.'
                  : 'For example: when the agent “tester” emits tests.failed, analyze the failure.'
              }
            />
          }
        />
      )}
      <SubscriptionDialog agent={agent} editing={editing} onClose={() => setEditing(null)} />
    </section>
  )
}

type Actions = {
  mayChange: boolean
  toggle: (change: { id: string; enabled: boolean }) => void
  remove: (subscription: EventSubscription) => void
  edit: (subscription: EventSubscription) => void
}

function columnsOf({ mayChange, toggle, remove, edit }: Actions): DataColumn<EventSubscription>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      grow: true,
      width: 150,
      cell: (row) => (
        <span className="flex min-w-0 flex-col" title={row.target_message}>
          <code className="truncate text-xs">{row.event_type}</code>
          <span className="truncate font-normal text-muted text-xs">{firstLine(row.target_message)}</span>
        </span>
      ),
    },
    {
      id: 'source',
      header: 'Source',
      width: 130,
      priority: 2,
      cell: (row) =>
        row.source_agent ?? <span className="text-muted">{row.source_hidden ? 'hidden' : 'any'}</span>,
    },
    { id: 'subscriber', header: 'Target', width: 130, priority: 2, cell: (row) => row.subscriber_agent },
    {
      id: 'last',
      header: 'Last triggered',
      width: 110,
      priority: 3,
      cell: (row) => <RelativeTime at={row.last_triggered_at} />,
    },
    {
      id: 'enabled',
      header: 'Enabled',
      width: 84,
      cell: (row) => (
        <Switch
          label={`Enable subscription to ${row.event_type}`}
          checked={row.enabled}
          disabled={!mayChange}
          onCheckedChange={(enabled) => toggle({ id: row.id, enabled })}
        />
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      width: 48,
      cell: (row) =>
        mayChange && (
          <Menu
            trigger={
              <IconButton size="sm" label={`Actions for ${row.event_type}`} icon={<Ellipsis aria-hidden />} />
            }
            items={[
              { label: 'Edit', icon: <Pencil aria-hidden />, onSelect: () => edit(row) },
              { label: 'Delete', icon: <Trash2 aria-hidden />, danger: true, onSelect: () => remove(row) },
            ]}
          />
        ),
    },
  ]
}
