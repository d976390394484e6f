import type { DisplayHint, ReportAudience } from '@roost/contracts/operations/reports'

export type ReportsTable = {
  id: string
  agent_id: string
  report_type: string
  title: string
  display_hint: DisplayHint | null
  period_start: string | null
  period_end: string | null
  audience: ReportAudience
  execution_id: string | null
  created_at: string
  payload_bytes: number
  /** JSON. */
  payload: string
}

/** What somebody of the Workspace thinks of a report. */
export type ReportRatingsTable = {
  report_id: string
  /** As conversations of the Workspace name their person. */
  holder_id: string
  rating: 'up' | 'down'
  comment: string | null
  rated_at: string
}

export type ReportTables = { agent_reports: ReportsTable; agent_report_ratings: ReportRatingsTable }
