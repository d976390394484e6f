import {
  createNotification,
  Notification,
  notificationPriorities,
  notificationTypes,
} from '@roost/contracts/operations/notifications'
import {
  createReport,
  displayHints,
  getReport,
  listReports,
  Report,
  ReportSummary,
  reportAudiences,
} from '@roost/contracts/operations/reports'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'
import { selfOf } from './reminders.ts'

const reportType = z
  .string()
  .min(1)
  .max(128)
  .describe('Words of lowercase letters, digits and "_" joined by dots, such as "sales.weekly".')

export const messageTools: Tool[] = [
  tool({
    name: 'send_notification',
    description:
      'Tell the people behind you something that needs no answer: work that is done, a state, a problem. To ask them something use ask_operator.',
    audience: 'agent',
    effect: 'write',
    input: {
      notification_type: z.enum(notificationTypes),
      title: z.string().min(1).max(200).describe('One line that says it all.'),
      message: z.string().max(8000).optional(),
      priority: z.enum(notificationPriorities).optional().describe('normal when left out.'),
      category: z.string().min(1).max(100).optional().describe('A word of your own to sort by.'),
      metadata: z.record(z.string(), z.unknown()).optional().describe('Facts; at most 8 KiB of JSON.'),
    },
    output: Notification,
    run: ({ api }, body) => api.call(createNotification, { body }),
  }),
  tool({
    name: 'report',
    description:
      'Hand in a report of what you have found out or done, as data with a hint at how to show it. It cannot be changed afterwards: hand in a newer one instead.',
    audience: 'agent',
    effect: 'write',
    input: {
      report_type: reportType.describe(
        'The same for all reports of one kind: words of lowercase letters, digits and "_" joined by dots, such as "sales.weekly".',
      ),
      title: z.string().min(1).max(300),
      payload: z
        .union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())])
        .describe('Text (Markdown), an array or an object; at most 5 MiB of JSON.'),
      display_hint: z.enum(displayHints).optional(),
      period_start: z.string().optional().describe('ISO 8601; what time the report is about.'),
      period_end: z.string().optional().describe('ISO 8601.'),
      audience: z
        .enum(reportAudiences)
        .optional()
        .describe('operator (when left out): those who run you; roster: everybody you are shared with.'),
      execution_id: z.string().min(1).optional().describe('The run of yours that made it.'),
    },
    output: ReportSummary,
    async run(call, body) {
      const { payload: _, ...summary } = await call.api.call(createReport, {
        params: { name: selfOf(call) },
        body,
      })
      return summary
    },
  }),
  tool({
    name: 'list_reports',
    description: 'Reports that agents have handed in, the newest first; get_report brings what one says.',
    audience: 'everyone',
    effect: 'read',
    input: {
      agent_name: agentName.optional(),
      report_type: reportType.optional(),
      limit: z.number().int().min(1).max(500).optional().describe('50 when left out.'),
    },
    async run({ api }, { limit, ...query }) {
      const reports = await api.call(listReports, {
        query: { ...query, ...(limit === undefined ? {} : { limit: String(limit) }) },
      })
      return { reports, count: reports.length }
    },
  }),
  tool({
    name: 'get_report',
    description: 'One report with its payload, which may be large.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    input: { report_id: z.string().min(1).describe('The id of the report, as list_reports gives it.') },
    output: Report,
    run: ({ api }, { report_id }) => api.call(getReport, { params: { id: report_id } }),
  }),
]
