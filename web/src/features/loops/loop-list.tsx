import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { Loop } from '@roost/contracts/runs/loops'
import { useQuery } from '@tanstack/react-query'
import { Plus, Repeat } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { ProgressBar } from '../../ui/progress.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { firstLine } from '../executions/first-line.ts'
import { loopsQuery, maxLoops } from './queries.ts'
import { isOpen, loopStatusWords, stopWords } from './words.ts'

type LoopListProps = { agent: AgentDetails; onOpen: (id: string) => void; onStart: () => void }

export function LoopList({ agent: { name, status }, onOpen, onStart }: LoopListProps) {
  const loops = useQuery(loopsQuery(useApi(), name))
  const isStopped = status !== 'running'
  return (
    <section aria-label="Loops" className="flex min-w-0 flex-col">
      <CardHeader
        title="Loops"
        description="Repeats one prompt until a limit or a stop phrase is reached."
        actions={
          <Button variant="primary" icon={<Plus aria-hidden />} disabled={isStopped} onClick={onStart}>
            Start loop
          </Button>
        }
      />
      {isStopped && <p className="mb-3 text-muted text-sm">Start the agent to start a loop.</p>}
      {loops.isError && !loops.data ? (
        <ErrorState
          title="Could not load the loops"
          error={loops.error}
          onRetry={() => void loops.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Loops"
          columns={columns}
          rows={loops.data ?? none}
          rowKey={(loop) => loop.loop_id}
          rowLabel={(loop) => firstLine(loop.message)}
          rowHeight={52}
          rowHref={(loop) => `/agents/${encodeURIComponent(name)}?tab=loops&loop=${loop.loop_id}`}
          onOpenRow={({ loop_id }) => onOpen(loop_id)}
          sort={null}
          isLoading={loops.isPending}
          empty={
            <EmptyState
              icon={<Repeat aria-hidden />}
              title="No loops yet"
              description="Use loops for repeated work: fix until the tests pass, or process a list item by item."
              action={
                <Button disabled={isStopped} onClick={onStart}>
                  Start loop
                </Button>
              }
            />
          }
          footer={
            loops.data?.length === maxLoops ? (
              <span className="text-muted text-xs">The newest {maxLoops} are shown.</span>
            ) : undefined
          }
        />
      )}
    </section>
  )
}

const columns: readonly DataColumn<Loop>[] = [
  { id: 'message', header: 'Message', grow: true, width: 150, cell: (loop) => firstLine(loop.message) },
  {
    id: 'status',
    header: 'Status',
    width: 170,
    cell: (loop) => (
      <span className="flex min-w-0 flex-col" title={stopWords(loop) ?? undefined}>
        <StatusDot {...loopStatusWords[loop.status]} pulse={loop.status === 'running'} />
        {!isOpen(loop) && <span className="truncate text-muted text-xs">{stopWords(loop)}</span>}
      </span>
    ),
  },
  {
    id: 'runs',
    header: 'Runs',
    width: 120,
    priority: 2,
    cell: (loop) => (
      <span className="flex flex-col gap-1">
        <span data-numeric>
          {loop.runs_completed} of {loop.max_runs}
          {loop.failed_runs > 0 && <span className="text-danger"> · {loop.failed_runs} failed</span>}
        </span>
        {isOpen(loop) && <ProgressBar label="Completed runs" value={loop.runs_completed / loop.max_runs} />}
      </span>
    ),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: 90,
    align: 'end',
    priority: 2,
    cell: (loop) => <Cost usd={loop.total_cost} isEstimated={loop.cost_estimated} />,
  },
  {
    id: 'started',
    header: 'Started',
    width: 110,
    priority: 3,
    cell: (loop) => <RelativeTime at={loop.created_at} />,
  },
]

const none: readonly Loop[] = []
