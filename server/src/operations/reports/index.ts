/**
 * Reports: what an agent has found out, as data with a hint at how to show it.
 *
 * Owns the table `agent_reports`. Promises that a report is what its agent handed in, whole and for good, until its
 * window is over or its agent is deleted; lists never read payloads. Refuses to know what a payload means.
 */
export { reportRoutes, rosterReportRoutes } from './routes.ts'
export { createReports, type Reports, type ReportsDeps } from './service.ts'
