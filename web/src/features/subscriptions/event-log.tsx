import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { AgentEvent } from '@roost/contracts/triggers/events'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { EmitDialog } from './emit-dialog.tsx'
import { eventsQuery, maxEvents } from './queries.ts'
import { dropWords } from './words.ts'

/** The events of the agent and the agents that they triggered. */
export function EventLog({ agent: { name } }: { agent: AgentDetails }) {
  const events = useQuery(eventsQuery(useApi(), name))
  const [opened, setOpened] = useState<string | null>(null)
  const [isEmitting, setEmitting] = useState(false)
  const shown = events.data?.find(({ id }) => id === opened) ?? null
  return (
    <section aria-label="Emitted events" className="min-w-0">
      <CardHeader
        title="Emitted events"
        description="Events of this agent, and the agents that they triggered."
        actions={
          <Button icon={<Send aria-hidden />} onClick={() => setEmitting(true)}>
            Emit event…
          </Button>
        }
      />
      {events.isError && !events.data ? (
        <ErrorState
          title="Could not load the events"
          error={events.error}
          onRetry={() => void events.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Events"
          columns={columns}
          rows={events.data ?? none}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.event_type}
          sort={null}
          onOpenRow={({ id }) => setOpened(id)}
          isLoading={events.isPending}
          empty={
            <EmptyState
              icon={<Send aria-hidden />}
              title="No events yet"
              description="The agent emits events with its tool emit_event. Emit an event here to test a subscription."
            />
          }
          footer={
            events.data?.length === maxEvents ? (
              <span className="text-muted text-xs">The newest {maxEvents} are shown.</span>
            ) : undefined
          }
        />
      )}
      <EventSheet event={shown} onClose={() => setOpened(null)} />
      <EmitDialog name={name} isOpen={isEmitting} onClose={() => setEmitting(false)} />
    </section>
  )
}

const columns: readonly DataColumn<AgentEvent>[] = [
  {
    id: 'type',
    header: 'Event',
    grow: true,
    width: 150,
    cell: (row) => <code className="text-xs">{row.event_type}</code>,
  },
  {
    id: 'wakes',
    header: 'Triggered',
    width: 110,
    cell: (row) => {
      const dropped = row.executions.filter((each) => each.dropped !== undefined).length
      if (row.subscriptions_triggered === 0) return <span className="text-faint">none</span>
      return (
        <span>
          {plural(row.subscriptions_triggered - dropped, 'agent')}
          {dropped > 0 && <span className="text-danger"> · {dropped} failed</span>}
        </span>
      )
    },
  },
  { id: 'at', header: 'Time', width: 110, priority: 2, cell: (row) => <RelativeTime at={row.created_at} /> },
]

function EventSheet({ event, onClose }: { event: AgentEvent | null; onClose: () => void }) {
  return (
    <Sheet open={event !== null} onOpenChange={onClose} title={event?.event_type ?? ''}>
      {event && (
        <div className="flex flex-col gap-4">
          <p className="text-muted text-sm">
            From {event.source_agent}, <RelativeTime at={event.created_at} />
          </p>
          {event.executions.length > 0 && (
            <ul aria-label="Triggered agents" className="flex flex-col gap-1 text-sm">
              {event.executions.map((wake) => (
                <li key={wake.agent_name} className="flex flex-wrap justify-between gap-x-4">
                  <span className="break-all">{wake.agent_name}</span>
                  <Wake wake={wake} />
                </li>
              ))}
            </ul>
          )}
          <CodeBlock language="json" title="Payload" code={JSON.stringify(event.payload, null, 2)} />
        </div>
      )}
    </Sheet>
  )
}

function Wake({ wake }: { wake: AgentEvent['executions'][number] }) {
  if (wake.dropped) return <span className="text-danger">Not triggered: {dropWords[wake.dropped]}</span>
  if (wake.execution_id === undefined) return <span className="text-muted">Pending</span>
  return (
    <Link
      to="/agents/$name/executions/$id"
      params={{ name: wake.agent_name, id: wake.execution_id }}
      className="text-accent hover:underline"
    >
      Open run
    </Link>
  )
}

const none: readonly AgentEvent[] = []
