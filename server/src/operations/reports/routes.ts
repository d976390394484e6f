import {
  createReport,
  getAgentReport,
  getReport,
  getReportStats,
  getRosterReport,
  listAgentReports,
  listReports,
  listRosterReports,
  type ReportsQuery,
} from '@roost/contracts/operations/reports'
import { createBinding, type WorkspaceChat } from '../../conversations/workspace-chat/index.ts'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { ReportPage, Reports } from './service.ts'

export function reportRoutes(reports: Reports): Route[] {
  const list = async (caller: SignedIn, query: ReportsQuery) => pageReply(await reports.list(caller, query))

  return [
    signedInRoute(listReports, (call) => list(call.caller, call.query)),
    // Static paths come before ids.
    signedInRoute(getReportStats, (call) => reports.stats(call.caller)),
    signedInRoute(getReport, (call) => reports.read(call.caller, call.params.id)),
    agentRoute(createReport, async (call) => {
      const report = await reports.create(call.agent.id, call.body)
      call.request.note({ report_id: report.id, report_type: report.report_type })
      return report
    }),
    agentRoute(listAgentReports, (call) => list(call.caller, { ...call.query, agent_name: call.agent.name })),
    agentRoute(getAgentReport, (call) => reports.read(call.caller, call.params.id, call.agent.name)),
  ]
}

/** For people in the Workspace who own an agent or have it shared with them. */
export function rosterReportRoutes(
  reports: Pick<Reports, 'listForRoster' | 'readForRoster'>,
  workspace: Pick<WorkspaceChat, 'principals' | 'roster'>,
): Route[] {
  const { withAgent } = createBinding(workspace)
  return [
    withAgent(listRosterReports, async ({ agent, query }) =>
      pageReply(await reports.listForRoster(agent, query)),
    ),
    withAgent(getRosterReport, ({ principal, agent, params }) =>
      reports.readForRoster(agent, params.id, principal.holder),
    ),
  ]
}

function pageReply({ reports, total }: ReportPage) {
  return answer(reports, { headers: { 'x-total-count': String(total) } })
}
