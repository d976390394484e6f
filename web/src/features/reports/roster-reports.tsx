import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import type { ReportSummary } from '@roost/contracts/operations/reports'
import { useQuery } from '@tanstack/react-query'
import { FileChartColumn } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton, SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { rosterReportQuery, rosterReportsQuery } from './queries.ts'
import { ReportPayload } from './report-payload.tsx'

/** The reports that an agent shows in the Workspace; each opens over the conversation. */
export function RosterReports({ agent: { name } }: { agent: RosterAgent }) {
  const reports = useQuery(rosterReportsQuery(useApi(), name))
  const [open, setOpen] = useState<ReportSummary | null>(null)
  if (reports.error && !reports.data) {
    return (
      <ErrorState
        title="Could not load the reports"
        error={reports.error}
        onRetry={() => void reports.refetch()}
      />
    )
  }
  if (!reports.data) return <SkeletonList rows={3} label="Loading reports" />
  if (reports.data.length === 0) {
    return (
      <EmptyState
        icon={<FileChartColumn aria-hidden />}
        title="No reports yet"
        description="Ask the agent for a report. It appears here."
      />
    )
  }
  return (
    <>
      <ul aria-label="Reports" className="-mx-2 flex flex-col gap-px">
        {reports.data.map((report) => (
          <li key={report.id}>
            <button
              type="button"
              onClick={() => setOpen(report)}
              className="block w-full rounded-md px-2 py-1.5 text-left hover:bg-hover"
            >
              <span className="block truncate text-sm">{report.title}</span>
              <RelativeTime at={report.created_at} className="text-muted text-xs" />
            </button>
          </li>
        ))}
      </ul>
      {open && (
        <Dialog open onOpenChange={() => setOpen(null)} title={open.title} size="xl">
          <Open report={open} />
        </Dialog>
      )}
    </>
  )
}

function Open({ report: { agent_name, id } }: { report: ReportSummary }) {
  const report = useQuery(rosterReportQuery(useApi(), agent_name, id))
  if (report.data) return <ReportPayload {...report.data} />
  if (!report.error) return <Skeleton className="h-72 w-full" />
  return <ErrorState error={report.error} onRetry={() => void report.refetch()} />
}
