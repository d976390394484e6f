import { getReport, listReports } from '@roost/contracts/operations/reports'
import { commandGroup } from './client/client-command.ts'
import { facts, plainText, table, time } from './client/output.ts'

export const reports = commandGroup('reports', 'Reports from agents: list, show.', {
  list: {
    parameters: '[AGENT]',
    summary: 'List the newest reports of an agent, or of all agents.',
    options: { type: { type: 'string' }, limit: { type: 'string' } },
    optionLines: ['--type TYPE      for example sales.weekly; --limit N (default 50)'],
    async run({ api, positionals: [agent_name], text, integer, print }) {
      const limit = String(integer('limit') ?? 50)
      const reportList = await api.call(listReports, {
        query: { agent_name, report_type: text('type'), limit },
      })
      print(reportList, () =>
        table(
          ['id', 'agent', 'type', 'created', 'bytes', 'title'],
          reportList.map((report) => [
            report.id,
            report.agent_name,
            report.report_type,
            time(report.created_at),
            String(report.payload_bytes),
            report.title,
          ]),
        ),
      )
    },
  },
  show: {
    parameters: 'ID',
    summary: 'Show one report with its content.',
    async run({ api, positionals: [id = ''], print }) {
      const report = await api.call(getReport, { params: { id } })
      const { payload } = report
      print(report, () =>
        [
          facts({
            title: report.title,
            agent: report.agent_name,
            type: report.report_type,
            created: time(report.created_at),
            from: time(report.period_start),
            to: time(report.period_end),
            run: report.execution_id,
          }),
          '',
          plainText(typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)),
        ].join('\n'),
      )
    },
  },
})
