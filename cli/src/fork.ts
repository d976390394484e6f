import { forkAgent } from '@roost/contracts/agents/forks'
import type { Subcommand } from './client/client-command.ts'
import { plainText } from './client/output.ts'
import { UsageError } from './command.ts'
import { findRecord } from './history.ts'
import { findRun } from './runs.ts'

export const forkCommand: Subcommand = {
  parameters: 'AGENT NAME',
  summary: 'Create an agent from the workspace, settings and skills of another one.',
  waiting: 'Forking the agent',
  options: {
    at: { type: 'string' },
    run: { type: 'string' },
    before: { type: 'boolean' },
    after: { type: 'boolean' },
    'with-schedules': { type: 'boolean' },
    'with-credentials': { type: 'boolean' },
    runtime: { type: 'string' },
    model: { type: 'string' },
  },
  optionLines: [
    '--at RECORD      the number or the id of a record; default: the workspace as it is now',
    '--run RUN        the workspace --before or --after a run',
    '--with-schedules copy schedules and event subscriptions; they are disabled in the fork',
    '--with-credentials  copy credential files and bound credentials',
    '--runtime NAME   claude-code or gemini-cli; --model NAME; default: those of the agent',
  ],
  async run(context) {
    const { api, positionals, text, flag, print } = context
    const [source = '', name = ''] = positionals
    const point = await pointOf(context, source)
    const body = {
      ...{ name, ...point, runtime: text('runtime'), runtime_model: text('model') },
      with_schedules: flag('with-schedules'),
      with_credentials: flag('with-credentials'),
    }
    // The platform validates the values, so its own message names the invalid one.
    const fork = await api.call(forkAgent, { params: { name: source }, body: body as never })
    print(fork, () =>
      [
        `${fork.name} is ${fork.status}.`,
        ...(fork.schedules_created > 0 ? [`Schedules: ${fork.schedules_created}, all disabled.`] : []),
        ...fork.warnings.map(plainText),
      ].join('\n'),
    )
    return 0
  },
}

type Context = Parameters<typeof forkCommand.run>[0]

async function pointOf({ api, text, flag, positionals }: Context, source: string) {
  const [at, run, before, after] = [text('at'), text('run'), flag('before'), flag('after')]
  if (at !== undefined && run !== undefined) throw new UsageError('Give either --at or --run.')
  if (before && after) throw new UsageError('Give either --before or --after.')
  if ((run !== undefined) !== (before || after))
    throw new UsageError('Give --run RUN together with --before or --after.')
  if (at !== undefined) return { record: (await findRecord({ api, positionals }, source, at)).record }
  if (run === undefined) return {}
  const found = await findRun(api, run)
  if (found.name !== source) throw new UsageError(`The run ${found.id} is one of ${found.name}.`)
  return { run: found.id, side: before ? ('before' as const) : ('after' as const) }
}
