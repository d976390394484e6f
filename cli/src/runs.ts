import {
  type ExecutionDetails,
  type ExecutionLog,
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { getAnyExecution, getAnyExecutionLog, listExecutions } from '@roost/contracts/runs/fleet-executions'
import { printRunChanges, printRunDiff } from './changes.ts'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { CommandFailed, exitCodes } from './client/exit.ts'
import { facts, money, plainText, seconds, table, time } from './client/output.ts'
import { followRun, removedNote } from './client/run-stream.ts'
import { transcript } from './client/transcript.ts'
import { type Command, UsageError } from './command.ts'

/** A shorter text would often name another run than the one that was meant. */
const minIdLength = 4
const idLine = 'ID: the id of a run, or its first characters if no other run has them. AGENT is not needed.'

const group = commandGroup('runs', 'Runs of agents: list, show, changes, diff, follow, stop.', {
  list: {
    parameters: '[AGENT]',
    summary: 'List the newest runs of an agent, or of all agents.',
    options: {
      status: { type: 'string' },
      error: { type: 'string' },
      limit: { type: 'string' },
      search: { type: 'string' },
    },
    optionLines: [
      '--status STATUS  queued, running, success, failed, cancelled, …; --limit N (default 50)',
      '--error CODE     only runs with this error code, such as timeout or agent_error',
      '--search TEXT    search message and id; only without AGENT',
    ],
    async run({ api, positionals: [name], text, integer, print }) {
      const limit = String(integer('limit') ?? 50)
      const filter = { status: text('status'), error: text('error'), limit }
      const runs =
        name === undefined
          ? await api.call(listExecutions, { query: { ...filter, hours: '0', search: text('search') } })
          : await api.call(listAgentExecutions, { params: { name }, query: filter })
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
    parameters: '[AGENT] ID',
    summary: 'Show one run with its response.',
    optionLines: [idLine],
    async run(context) {
      const run = await detailsOf(context)
      context.print(run, () =>
        [
          facts({
            id: run.id,
            agent: run.agent_name,
            status: run.status,
            cause: run.triggered_by,
            model: run.model_used,
            started: time(run.started_at),
            took: seconds(run.duration_ms),
            cost: money(run.cost, run.cost_estimated),
            message: run.message,
            error: run.error,
          }),
          ...(run.response ? ['', plainText(run.response)] : []),
        ].join('\n'),
      )
    },
  },
  log: {
    parameters: '[AGENT] ID',
    summary: 'Print the transcript of a run.',
    options: {
      follow: { type: 'boolean', short: 'f' },
      full: { type: 'boolean' },
      raw: { type: 'boolean' },
    },
    optionLines: [
      idLine,
      '-f, --follow     print the answer as it arrives, until the run ends',
      '--full           do not shorten the input and output of tools',
      '--raw            print the stored lines as JSON, as --json does',
    ],
    async run(context) {
      const { flag, isJson } = context
      if (flag('follow')) return followRun(context, await runOf(context))
      const run = await logOf(context)
      if (run.log_removed_at) console.error(removedNote(run.log_removed_at))
      if (!isJson && !flag('raw')) {
        console.log(transcript(run, { isFull: flag('full') }))
        return 0
      }
      for (const line of run.log) console.log(isJson ? JSON.stringify(line) : plainText(JSON.stringify(line)))
      return 0
    },
  },
  changes: {
    parameters: 'ID',
    summary: 'List the files that a run changed.',
    optionLines: [idLine],
    async run(context) {
      await printRunChanges(context, (await runOf(context)).id)
      return 0
    },
  },
  diff: {
    parameters: 'ID [PATH]',
    summary: 'Print the diff of a file that a run changed, or of all of them.',
    optionLines: [idLine],
    async run(context) {
      const [id = '', path] = context.positionals
      await printRunDiff(context, (await findRun(context.api, id)).id, path)
      return 0
    },
  },
  stop: {
    parameters: '[AGENT] ID',
    summary: 'Stop a queued or running run.',
    optionLines: [idLine],
    waiting: 'Stopping the run',
    async run(context) {
      const reply = await context.api.call(terminateExecution, { params: await runOf(context) })
      context.print(reply, () => reply.status)
    },
  },
})

/** The API and earlier releases call a run an execution. */
export const runs: Command = { ...group, aliases: ['executions'] }

type Run = { name: string; id: string; isDeleted?: boolean }

/** The run that the arguments `[AGENT] ID` name. Throws `CommandFailed`. */
async function runOf({ api, positionals }: Pick<CommandContext, 'api' | 'positionals'>): Promise<Run> {
  const [first = '', second] = positionals
  return second === undefined ? findRun(api, first) : { name: first, id: second }
}

/** Finds a run of any agent by its id or the first characters of it. Throws `CommandFailed`. */
export async function findRun(api: CommandContext['api'], id: string): Promise<Run> {
  if (id.length < minIdLength)
    throw new UsageError(`ID must have at least ${minIdLength} characters, not ${JSON.stringify(id)}.`)
  const matches = await api.call(listExecutions, { query: { search: id, hours: '0', limit: '200' } })
  const found = matches.filter((run) => run.id.startsWith(id))
  const exact = found.find((run) => run.id === id) ?? (found.length === 1 ? found[0] : undefined)
  if (exact) return { name: exact.agent_name, id: exact.id, isDeleted: exact.agent_deleted === true }
  if (found.length > 1) {
    const ids = found.map((run) => `${run.id} of ${run.agent_name}`)
    throw new CommandFailed(`Several runs start with ${id}: ${ids.slice(0, 5).join(', ')}.`)
  }
  throw new CommandFailed(
    `There is no run ${JSON.stringify(id)} that you can access. Run \`roost runs\` for the list.`,
    exitCodes.notFound,
  )
}

async function detailsOf(context: CommandContext): Promise<ExecutionDetails> {
  const { name, id, isDeleted } = await runOf(context)
  if (isDeleted) return context.api.call(getAnyExecution, { params: { id } })
  return context.api.call(getExecution, { params: { name, id } })
}

async function logOf(context: CommandContext): Promise<ExecutionLog> {
  const { name, id, isDeleted } = await runOf(context)
  if (isDeleted) return context.api.call(getAnyExecutionLog, { params: { id } })
  return context.api.call(getExecutionLog, { params: { name, id } })
}
