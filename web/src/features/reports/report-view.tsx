import { ApiError } from '@roost/contracts/client'
import type { Report } from '@roost/contracts/operations/reports'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, FileX2 } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ExactTime, RelativeTime } from '../../ui/time.tsx'
import { reportQuery } from './queries.ts'
import { ReportPayload } from './report-payload.tsx'

/** One report in the format that its agent requested. `onBack`: the list is not a page of its own. */
export function ReportView({ id, onBack }: { id: string; onBack?: () => void }) {
  const report = useQuery(reportQuery(useApi(), id))
  return (
    <div className="min-w-0">
      {onBack ? (
        <button type="button" onClick={onBack} className={backClass}>
          <ArrowLeft aria-hidden className="size-3" />
          All reports
        </button>
      ) : (
        <Link
          to="/inbox"
          search={(now) => ({ ...now, tab: 'reports', report: undefined })}
          className={backClass}
        >
          <ArrowLeft aria-hidden className="size-3" />
          All reports
        </Link>
      )}
      {report.data ? (
        <Loaded report={report.data} />
      ) : isUnknown(report.error) ? (
        <EmptyState
          icon={<FileX2 aria-hidden />}
          title="Report not found"
          description="The report may have been deleted by retention, or its agent is not shared with you."
        />
      ) : report.error ? (
        <ErrorState
          title="Could not load the report"
          error={report.error}
          onRetry={() => void report.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <Skeleton className="h-72 w-full" />
      )}
    </div>
  )
}

const backClass = 'mb-2 inline-flex items-center gap-1 text-muted text-xs hover:text-ink'

const isUnknown = (error: unknown) => error instanceof ApiError && error.status === 404

function Loaded({ report }: { report: Report }) {
  const { title, agent_name, report_type, audience, execution_id, period_start, period_end } = report
  return (
    <>
      <h2 className="break-words font-semibold text-lg">{title}</h2>
      <p className="mt-1 mb-4 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-muted text-sm">
        <Badge>{report_type}</Badge>
        {audience === 'roster' && <Badge tone="info">Visible in Workspace</Badge>}
        <Link to="/agents/$name" params={{ name: agent_name }} className="hover:text-ink hover:underline">
          {agent_name}
        </Link>
        <RelativeTime at={report.created_at} />
        {period_start && (
          <span>
            for <ExactTime at={period_start} />
            {period_end && (
              <>
                {' '}
                to <ExactTime at={period_end} />
              </>
            )}
          </span>
        )}
        <Bytes bytes={report.payload_bytes} />
        {execution_id && (
          <Link
            to="/agents/$name/executions/$id"
            params={{ name: agent_name, id: execution_id }}
            className="text-accent hover:underline"
          >
            Open run
          </Link>
        )}
      </p>
      <ReportPayload {...report} />
    </>
  )
}
