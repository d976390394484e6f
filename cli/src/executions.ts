import {
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { listExecutions } from '@roost/contracts/runs/fleet-executions'
import { commandGroup } from './client/client-command.ts'
import { facts, money, plainText, seconds, table, time } from './client/output.ts'
import { followRun, removedNote } from './client/run-stream.ts'

export const executions = commandGroup('executions', 'Executions of agents: list, show, follow, stop.', {
  list: {
    parameters: '[AGENT]',
    summary: 'List the newest executions of an agent, or of all agents.',
    options: { status: { type: 'string' }, limit: { type: 'string' }, search: { type: 'string' } },
    optionLines: [
      '--status STATUS  queued, running, success, failed, cancelled, …; --limit N (default 50)',
      '--search TEXT    search message and id; only without AGENT',
    ],
    async run({ api, positionals: [name], text, integer, print }) {
      const limit = String(integer('limit') ?? 50)
      const status = text('status')
      const runs =
        name === undefined
          ? await api.call(listExecutions, { query: { status, limit, hours: '0', search: text('search') } })
          : await api.call(listAgentExecutions, { params: { name }, query: { status, limit } })
      print(runs, () =>
        table(
          ['id', 'agent', 'status', 'cause', 'created', 'took', 'cost', 'message'],
          runs.map((run) => [
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
    parameters: 'AGENT ID',
    summary: 'Show one execution with its response.',
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
    parameters: 'AGENT ID',
    summary: 'Print the transcript of an execution.',
    options: { follow: { type: 'boolean', short: 'f' } },
    optionLines: ['-f, --follow     follow the execution until it ends'],
    async run(context) {
      const { api, positionals, flag, isJson } = context
      const [name = '', id = ''] = positionals
      if (flag('follow')) return followRun(context, { name, id })
      const { log, log_removed_at } = await api.call(getExecutionLog, { params: { name, id } })
      if (log_removed_at) console.error(removedNote(log_removed_at))
      for (const line of log) console.log(isJson ? JSON.stringify(line) : logLine(line))
      return 0
    },
  },
  stop: {
    parameters: 'AGENT ID',
    summary: 'Stop a queued or running execution.',
    async run({ api, positionals: [name = '', id = ''], print }) {
      const reply = await api.call(terminateExecution, { params: { name, id } })
      print(reply, () => reply.status)
    },
  },
})

function logLine(line: unknown): string {
  return plainText(JSON.stringify(line))
}
