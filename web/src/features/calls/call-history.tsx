import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Duration, RelativeTime } from '../../ui/time.tsx'
import { ExecutionStatus } from '../executions/execution-status.tsx'
import { callsQuery } from './queries.ts'
import { calledNumber } from './words.ts'

const shown = 8

/** The newest calls, with links to their runs, which hold the transcripts. */
export function CallHistory({ name }: { name: string }) {
  const api = useApi()
  const calls = useQuery(callsQuery(api, name))
  if (!calls.data) {
    if (!calls.error) return <Skeleton className="h-24" />
    return (
      <ErrorState title="Could not load the calls" error={calls.error} onRetry={() => void calls.refetch()} />
    )
  }
  if (calls.data.length === 0) {
    return <p className="text-muted text-sm">No calls yet. The agent calls people with its tool call_user.</p>
  }
  return (
    <ul aria-label="Calls" className="divide-y divide-line rounded-lg border border-line">
      {calls.data.slice(0, shown).map((call) => (
        <Call key={call.id} name={name} call={call} />
      ))}
    </ul>
  )
}

function Call({ name, call }: { name: string; call: ExecutionSummary }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2 text-sm">
      <ExecutionStatus status={call.status} compact />
      <Link
        to="/agents/$name/executions/$id"
        params={{ name, id: call.id }}
        className="font-medium tabular-nums hover:underline"
      >
        {calledNumber(call.message)}
      </Link>
      <span className="min-w-0 flex-1 truncate text-muted text-xs">{call.error_summary}</span>
      <Duration ms={call.duration_ms} className="text-muted text-xs tabular-nums" />
      <RelativeTime at={call.created_at} className="text-muted text-xs" />
    </li>
  )
}
