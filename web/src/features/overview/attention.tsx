import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { cx } from '../../ui/class-names.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useAgentPower } from '../agents/actions.ts'
import { firstLine } from '../executions/first-line.ts'
import { runsQuery } from '../executions/queries.ts'
import { type Warning, warningsOf } from './warnings.ts'

const maxFailures = 5
const weekHours = 7 * 24

/** Problems of the agent and its latest failures. */
export function Attention({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const failures = useQuery(
    runsQuery(useApi(), { agent: name, status: 'failed', hours: weekHours }, 1, maxFailures),
  )
  const warnings = warningsOf(agent)
  const rows = failures.data?.rows ?? []
  return (
    <Card aria-label="Needs attention">
      <CardHeader
        title="Needs attention"
        actions={
          rows.length > 0 && (
            <Link
              to="/agents/$name"
              params={{ name }}
              search={{ tab: 'executions', status: 'failed' }}
              className="text-accent text-xs hover:underline"
            >
              All failures
            </Link>
          )
        }
      />
      {warnings.map((warning) => (
        <WarningLine key={warning.id} warning={warning} name={name} />
      ))}
      {failures.isError && !failures.data ? (
        <ErrorState
          title="Could not load the failures"
          error={failures.error}
          onRetry={() => void failures.refetch()}
        />
      ) : failures.isPending ? (
        <SkeletonText lines={3} />
      ) : rows.length > 0 ? (
        <ul className="-mx-2 flex flex-col" aria-label="Latest failures">
          {rows.map((run) => (
            <Failure key={run.id} run={run} />
          ))}
        </ul>
      ) : (
        warnings.length === 0 && (
          <p className="flex items-center gap-2 py-4 text-muted text-sm">
            <CircleCheck aria-hidden className="size-4 text-success" />
            No problems, and no failed runs in the last 7 days.
          </p>
        )
      )}
    </Card>
  )
}

function WarningLine({ warning, name }: { warning: Warning; name: string }) {
  const { start, pending } = useAgentPower(name)
  const Icon = warning.tone === 'danger' ? CircleAlert : TriangleAlert
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-2 border-b pb-3 last:border-b-0 last:pb-0 [&+*]:mt-3">
      <Icon
        aria-hidden
        className={cx('mt-0.5 size-4 shrink-0', warning.tone === 'danger' ? 'text-danger' : 'text-warning')}
      />
      <div className="min-w-0 flex-1 basis-48 text-sm">
        <p className="font-medium">{warning.title}</p>
        <p className="text-muted">{warning.hint}</p>
      </div>
      {warning.place === 'start' && (
        <Button size="sm" pending={pending !== null} onClick={start}>
          Start
        </Button>
      )}
      {warning.place === 'settings' && (
        <Link
          to="/agents/$name"
          params={{ name }}
          search={{ tab: 'settings' }}
          className={buttonClass({ size: 'sm' })}
        >
          Settings
        </Link>
      )}
    </div>
  )
}

function Failure({ run }: { run: ExecutionSummary }) {
  return (
    <li>
      <Link
        to="/agents/$name/executions/$id"
        params={{ name: run.agent_name, id: run.id }}
        className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 rounded-md px-2 py-1.5 text-sm hover:bg-hover"
      >
        <span className="truncate font-medium">
          {run.redacted ? 'Private conversation' : firstLine(run.message)}
        </span>
        <RelativeTime at={run.completed_at ?? run.created_at} className="text-muted text-xs leading-5" />
        {run.error_summary && (
          <span className="col-span-2 truncate text-danger text-xs">{firstLine(run.error_summary)}</span>
        )}
      </Link>
    </li>
  )
}
