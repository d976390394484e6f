import type { FanOut, FanOutResult } from '@roost/contracts/runs/fan-out'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { IconButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Cost } from '../../ui/cost.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { ProgressBar } from '../../ui/progress.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { Duration, RunningDuration } from '../../ui/time.tsx'
import { ExecutionStatus } from './execution-status.tsx'
import { firstLine } from './first-line.ts'
import { fanOutQuery } from './queries.ts'
import { errorWords } from './words.ts'

/** The progress of a fan-out, with the results in the order of the tasks. */
export function FanOutProgress({ name, id, onClose }: { name: string; id: string; onClose: () => void }) {
  const fanOut = useQuery(fanOutQuery(useApi(), name, id))
  return (
    <Card padded={false} aria-label="Fan-out" className="max-w-4xl">
      <div className="p-4 pb-0">
        <CardHeader
          title="Fan-out"
          description={fanOut.data ? summaryOf(fanOut.data) : id}
          actions={<IconButton label="Close" icon={<X aria-hidden />} onClick={onClose} />}
        />
        {fanOut.data && (
          <ProgressBar label="Finished tasks" value={endedOf(fanOut.data) / fanOut.data.total} />
        )}
      </div>
      <div className="p-2">
        {fanOut.isError && !fanOut.data ? (
          <ErrorState
            title="Could not load the fan-out"
            error={fanOut.error}
            onRetry={() => void fanOut.refetch()}
          />
        ) : fanOut.data ? (
          <ol className="flex flex-col">
            {fanOut.data.results.map((result) => (
              <Row key={result.id} name={name} result={result} />
            ))}
          </ol>
        ) : (
          <SkeletonList rows={3} />
        )}
      </div>
    </Card>
  )
}

const statuses = {
  queued: 'queued',
  running: 'running',
  completed: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
} as const

function Row({ name, result }: { name: string; result: FanOutResult }) {
  const words =
    result.response ?? result.error ?? (result.error_code ? errorWords[result.error_code].title : null)
  return (
    <li>
      <Link
        to="/agents/$name/executions/$id"
        params={{ name, id: result.execution_id }}
        className="grid grid-cols-[3rem_7rem_minmax(0,1fr)_auto] items-center gap-3 rounded-md px-2 py-1.5 text-sm hover:bg-hover max-sm:grid-cols-[2.5rem_minmax(0,1fr)_auto]"
      >
        <span className="truncate font-mono text-muted text-xs">{result.id}</span>
        <span className="text-xs">
          <ExecutionStatus status={statuses[result.status]} />
        </span>
        <span className="truncate text-muted max-sm:col-span-3 max-sm:row-start-2">
          {words === null ? '' : firstLine(words)}
        </span>
        <span className="flex text-right text-muted text-xs [&>*]:w-16">
          {result.status === 'running' ? (
            <RunningDuration since={result.started_at} />
          ) : (
            <Duration ms={result.duration_ms} />
          )}
          <Cost usd={result.cost} isEstimated={result.cost_estimated} />
        </span>
      </Link>
    </li>
  )
}

function endedOf({ completed, failed, cancelled }: FanOut): number {
  return completed + failed + cancelled
}

function summaryOf(fanOut: FanOut): string {
  const { total, completed, failed, cancelled, running, queued } = fanOut
  const counts = [
    [completed, 'succeeded'],
    [failed, 'failed'],
    [cancelled, 'cancelled'],
    [running, 'running'],
    [queued, 'waiting'],
  ] as const
  const words = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return `${plural(total, 'task')}: ${words.join(', ')}`
}
