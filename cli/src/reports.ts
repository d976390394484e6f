import { getReport, listReports } from '@roost/contracts/operations/reports'
import { verbsCommand } from './client/client-command.ts'
import { facts, plainText, table, time } from './client/output.ts'

export const reports = verbsCommand('reports', 'What agents have reported: list, show.', {
  list: {
    takes: '[AGENT]',
    summary: 'The newest reports of an agent, or of all.',
    options: { type: { type: 'string' }, limit: { type: 'string' } },
    optionLines: ['--type WORD      such as sales.weekly; --limit N (50)'],
    async run({ api, positionals: [agent_name], text, integer, print }) {
      const limit = String(integer('limit') ?? 50)
      const found = await api.call(listReports, { query: { agent_name, report_type: text('type'), limit } })
      print(found, () =>
        table(
          ['id', 'agent', 'type', 'created', 'bytes', 'title'],
          found.map((report) => [
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
    takes: 'ID',
    summary: 'One report with what it says.',
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
