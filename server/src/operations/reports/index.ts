/**
 * Reports: results of an agent, as data with a display hint.
 *
 * Owns the tables `agent_reports` and `agent_report_ratings`. Promises that a report stays as its agent sent it until its
 * retention window ends or its agent is deleted, and that lists never read payloads. Does not interpret payloads.
 */
export { reportRoutes, rosterReportRoutes } from './routes.ts'
export { createReports, type Reports, type ReportsDeps } from './service.ts'
