import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { RunningExecutions } from '@roost/contracts/runs/executions'
import type { AgentQueue } from '@roost/contracts/runs/queue'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListX, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { RelativeTime, RunningDuration } from '../../ui/time.tsx'
import { useClearQueue, useStop } from './actions.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { firstLine } from './first-line.ts'
import { queueQuery, runningQuery, runsQuery, slotsOfAgentQuery } from './queries.ts'
import { blockReason } from './wait-reason.ts'
import { triggerWords } from './words.ts'

/** Running and queued runs of the agent; renders nothing while it is idle. */
export function OpenRuns({ agent }: { agent: AgentDetails }) {
  const api = useApi()
  const running = useQuery(runningQuery(api, agent.name))
  const queue = useQuery(queueQuery(api, agent.name))
  const fault = running.error ?? queue.error
  if (fault && !(running.data && queue.data)) {
    return (
      <ErrorState
        title="Could not load the running and queued runs"
        error={fault}
        onRetry={() => void Promise.all([running.refetch(), queue.refetch()])}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const now = running.data?.executions ?? []
  const waiting = queue.data?.queued_executions ?? []
  if (now.length === 0 && waiting.length === 0) return null
  return (
    <div className="flex min-w-0 flex-col gap-8">
      {now.length > 0 && <Running name={agent.name} runs={now} />}
      {queue.data && waiting.length > 0 && <Waiting agent={agent} queue={queue.data} />}
    </div>
  )
}

function Running({ name, runs }: { name: string; runs: RunningExecutions['executions'] }) {
  const stop = useStop(name)
  return (
    <Part id="running-now" title="Running" count={runs.length}>
      {runs.map((run) => (
        <Row key={run.execution_id} name={name} id={run.execution_id} words={run.metadata.message_preview}>
          <span className="w-24 truncate text-muted text-xs max-sm:hidden">
            {triggerWords[run.metadata.triggered_by]}
          </span>
          <span className="w-20 text-right text-xs">
            {run.parked ? (
              <span className="text-muted">starting</span>
            ) : (
              <RunningDuration since={run.started_at} />
            )}
          </span>
          <Button
            size="sm"
            icon={<StopIcon />}
            pending={stop.isPending && stop.variables === run.execution_id}
            aria-label={`Stop ${firstLine(run.metadata.message_preview, 60)}`}
            onClick={() => stop.mutate(run.execution_id)}
          >
            Stop
          </Button>
        </Row>
      ))}
    </Part>
  )
}

/** Further queued runs are shown as a number only. */
const maxQueuedShown = 20

function Waiting({ agent, queue }: { agent: AgentDetails; queue: AgentQueue }) {
  const api = useApi()
  const { name } = agent
  const stop = useStop(name)
  const capacity = useQuery(slotsOfAgentQuery(api, name))
  // The queue lists only IDs; the messages come from the list of runs.
  const rows = useQuery(runsQuery(api, { agent: name, status: 'queued', hours: 0 }, 1, 200))
  const messages = new Map(rows.data?.rows.map((row) => [row.id, row.message]))
  const shown = queue.queued_executions.slice(0, maxQueuedShown)
  const reason = blockReason({
    agentStatus: agent.status,
    capacity: capacity.data ?? null,
    breaker: agent.circuit_breaker.open ? 'open' : 'closed',
  })
  return (
    <Part
      id="waiting-now"
      title="Queued"
      count={queue.queue_length}
      description={reason}
      actions={
        agent.is_owner || agent.can_delete ? <ClearQueue agent={agent} count={queue.queue_length} /> : null
      }
    >
      {shown.map(({ execution_id: id, position, triggered_by, queued_at }) => (
        <Row key={id} name={name} id={id} words={messages.get(id) ?? null} position={position}>
          <span className="w-24 truncate text-muted text-xs max-sm:hidden">{triggerWords[triggered_by]}</span>
          <span className="w-24 text-right text-muted text-xs">
            <RelativeTime at={queued_at} />
          </span>
          <IconButton
            size="sm"
            label={`Cancel the run at position ${position}`}
            icon={<X aria-hidden />}
            pending={stop.isPending && stop.variables === id}
            onClick={() => stop.mutate(id)}
          />
        </Row>
      ))}
      {queue.queue_length > shown.length && (
        <li className="px-3 py-2 text-muted text-xs">and {queue.queue_length - shown.length} more</li>
      )}
    </Part>
  )
}

function ClearQueue({ agent, count }: { agent: AgentDetails; count: number }) {
  const [isAsking, setAsking] = useState(false)
  const clear = useClearQueue(agent.name)
  return (
    <>
      <Button size="sm" icon={<ListX aria-hidden />} onClick={() => setAsking(true)}>
        Clear queue
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Clear queue?"
        description={`Cancels ${plural(count, 'queued run')}. Running runs are not affected. This cannot be undone.`}
        typed={agent.name}
        action="Clear queue"
        pending={clear.isPending}
        onConfirm={() => clear.mutate(undefined, { onSettled: () => setAsking(false) })}
      />
    </>
  )
}

type PartProps = {
  id: string
  title: string
  count: number
  description?: string | null
  actions?: ReactNode
  children: ReactNode
}

function Part({ id, title, count, description, actions, children }: PartProps) {
  return (
    <section aria-labelledby={id} className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id={id} className="font-semibold text-base">
          {title} <span className="font-normal text-muted tabular-nums">{count}</span>
        </h2>
        {description && <p className="min-w-0 flex-1 text-muted text-sm">{description}</p>}
        {actions}
      </div>
      <Card padded={false}>
        <ol className="divide-y divide-line">{children}</ol>
      </Card>
    </section>
  )
}

type RowProps = { name: string; id: string; words: string | null; position?: number; children: ReactNode }

function Row({ name, id, words, position, children }: RowProps) {
  return (
    <li className="flex min-w-0 items-center gap-3 px-3 py-1.5 text-sm">
      {position === undefined ? (
        <ExecutionStatus status="running" compact />
      ) : (
        <span data-numeric className="w-5 shrink-0 text-right text-muted text-xs">
          {position}
        </span>
      )}
      <Link
        to="/agents/$name/executions/$id"
        params={{ name, id }}
        className="min-w-0 flex-1 truncate font-medium hover:underline"
      >
        {words === null ? <span className="font-mono text-xs">{id}</span> : firstLine(words)}
      </Link>
      {children}
    </li>
  )
}
