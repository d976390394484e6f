import {
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { listExecutions } from '@roost/contracts/runs/fleet'
import { verbsCommand } from './client/client-command.ts'
import { facts, money, plainText, seconds, table, time } from './client/output.ts'
import { followRun } from './client/run-stream.ts'

export const executions = verbsCommand('executions', 'Runs of agents: list, show, follow, stop.', {
  list: {
    takes: '[AGENT]',
    summary: 'The newest runs of an agent, or of all.',
    options: { status: { type: 'string' }, limit: { type: 'string' }, search: { type: 'string' } },
    optionLines: [
      '--status WORD    queued, running, success, failed, cancelled …; --limit N (50)',
      '--search TEXT    in message and id; of all agents only',
    ],
    async run({ api, positionals: [name], text, integer, print }) {
      const limit = String(integer('limit') ?? 50)
      const status = text('status')
      const found =
        name === undefined
          ? await api.call(listExecutions, { query: { status, limit, hours: '0', search: text('search') } })
          : await api.call(listAgentExecutions, { params: { name }, query: { status, limit } })
      print(found, () =>
        table(
          ['id', 'agent', 'status', 'cause', 'created', 'took', 'cost', 'message'],
          found.map((run) => [
            run.id,
            run.agent_name,
            run.status,
            run.triggered_by,
            time(run.created_at),
            seconds(run.duration_ms),
            money(run.cost, run.cost_estimated),
            (run.message ?? '').slice(0, 60),
          ]),
        ),
      )
    },
  },
  show: {
    takes: 'AGENT ID',
    summary: 'One run and its answer.',
    async run({ api, positionals: [name = '', id = ''], print }) {
      const run = await api.call(getExecution, { params: { name, id } })
      print(run, () =>
        [
          facts({
            id: run.id,
            status: run.status,
            cause: run.triggered_by,
            model: run.model_used,
            started: time(run.started_at),
            took: seconds(run.duration_ms),
            cost: money(run.cost, run.cost_estimated),
            error: run.error,
          }),
          ...(run.response ? ['', plainText(run.response)] : []),
        ].join('\n'),
      )
    },
  },
  log: {
    takes: 'AGENT ID',
    summary: 'What a run did, line by line.',
    options: { follow: { type: 'boolean', short: 'f' } },
    optionLines: ['-f, --follow     go on until it ends'],
    async run(asked) {
      const { api, positionals, flag, isJson } = asked
      const [name = '', id = ''] = positionals
      if (flag('follow')) return followRun(asked, { name, id })
      const { log } = await api.call(getExecutionLog, { params: { name, id } })
      for (const line of log) console.log(isJson ? JSON.stringify(line) : logLine(line))
      return 0
    },
  },
  stop: {
    takes: 'AGENT ID',
    summary: 'End a run that is queued or running.',
    async run({ api, positionals: [name = '', id = ''], print }) {
      const reply = await api.call(terminateExecution, { params: { name, id } })
      print(reply, () => reply.status)
    },
  },
})

function logLine(line: unknown): string {
  return plainText(JSON.stringify(line))
}
