import { createNotification, Notification } from '@roost/contracts/operations/notifications'
import {
  createReport,
  getReport,
  listReports,
  Report,
  ReportSummary,
} from '@roost/contracts/operations/reports'
import { asQuery, bodyOf, described, pathOf, queryOf, request, without } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { reasons, words } from './parameters.ts'
import { selfOf } from './reminders.ts'

const reportType = 'Words of lowercase letters, digits and "_" joined by dots, such as "sales.weekly".'

export const messageTools: Tool[] = [
  tool({
    name: 'send_notification',
    description:
      'Send the people responsible for you a message that needs no answer: finished work, a state, a problem. To ask them something use ask_operator.',
    audience: 'agent',
    effect: 'write',
    requests: [request(createNotification, { leftOut: { agent_name: reasons.self } })],
    input: described(without(bodyOf(createNotification), 'agent_name'), {
      title: 'One line that contains the whole message.',
      category: 'A word of your own to sort by.',
      metadata: 'Facts; at most 8 KiB of JSON.',
    }),
    output: Notification,
    run: ({ api }, body) => api.call(createNotification, { body }),
  }),
  tool({
    name: 'report',
    description:
      'Submit a report of your findings or work, as data with a hint at how to display it. It cannot be changed afterwards: submit a newer one instead.',
    audience: 'agent',
    effect: 'write',
    requests: [request(createReport, { leftOut: { '{name}': reasons.self } })],
    input: described(bodyOf(createReport), {
      report_type: `The same for all reports of one kind. ${reportType}`,
      payload: 'Text (Markdown), an array or an object; at most 5 MiB of JSON.',
      period_start: 'ISO 8601; begin of the period that the report covers.',
      period_end: 'ISO 8601; end of that period.',
      audience: 'operator (default): the people responsible for you; roster: everybody you are shared with.',
      execution_id: 'Your run that made the report.',
    }),
    output: ReportSummary,
    async run(call, body) {
      const params = { name: selfOf(call) }
      const { payload: _, ...summary } = await call.api.call(createReport, { params, body })
      return summary
    },
  }),
  tool({
    name: 'list_reports',
    description: 'Reports of agents, newest first; get_report returns the content of one.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listReports)],
    input: described(queryOf(listReports), {
      agent_name: 'Only reports of this agent.',
      report_type: `Only reports of this kind. ${reportType}`,
      limit: words.limit,
      offset: words.offset,
    }),
    async run({ api }, query) {
      const reports = await api.call(listReports, { query: asQuery(query) })
      return { reports, count: reports.length }
    },
  }),
  tool({
    name: 'get_report',
    description: 'One report with its payload, which may be large.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    requests: [request(getReport, { as: { '{id}': 'report_id' } })],
    input: { report_id: pathOf(getReport).id.describe('The id of the report, as list_reports returns it.') },
    output: Report,
    run: ({ api }, { report_id }) => api.call(getReport, { params: { id: report_id } }),
  }),
]
