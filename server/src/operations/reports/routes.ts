import {
  createReport,
  getAgentReport,
  getReport,
  getReportStats,
  listAgentReports,
  listReports,
  type ReportsQuery,
} from '@roost/contracts/operations/reports'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Reports } from './service.ts'

export function reportRoutes(reports: Reports): Route[] {
  async function list(caller: SignedIn, query: ReportsQuery) {
    const { reports: page, total } = await reports.list(caller, query)
    return answer(page, { headers: { 'x-total-count': String(total) } })
  }

  return [
    signedInRoute(listReports, (call) => list(call.caller, call.query)),
    // Fixed words come before ids.
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
