import { getLoop, listLoops, loopStatuses, startLoop, stopLoop } from '@roost/contracts/runs/loops'
import { commandGroup } from './client/client-command.ts'
import { facts, money, plainText, seconds, table, time } from './client/output.ts'
import { UsageError } from './command.ts'

export const loops = commandGroup('loops', 'Loops, one message repeated: list, start, show, stop.', {
  list: {
    parameters: 'AGENT',
    summary: 'List the loops of an agent.',
    options: { status: { type: 'string' } },
    optionLines: [`--status STATUS  ${loopStatuses.join(', ')}`],
    async run({ api, positionals: [name = ''], text, print }) {
      const status = loopStatuses.find((each) => each === text('status'))
      if (text('status') && !status)
        throw new UsageError(`--status must be one of ${loopStatuses.join(', ')}.`)
      const loopList = await api.call(listLoops, { params: { name }, query: { status } })
      print(loopList, () =>
        table(
          ['id', 'status', 'reason', 'runs', 'cost', 'created'],
          loopList.map((loop) => [
            loop.loop_id,
            loop.status,
            loop.stop_reason ?? '',
            `${loop.runs_completed}/${loop.max_runs}`,
            money(loop.total_cost, loop.cost_estimated),
            time(loop.created_at),
          ]),
        ),
      )
    },
  },
  start: {
    parameters: 'AGENT MESSAGE…',
    summary: 'Start a loop. {{run}} and {{previous_response}} in MESSAGE are replaced.',
    options: {
      runs: { type: 'string' },
      until: { type: 'string' },
      delay: { type: 'string' },
      timeout: { type: 'string' },
      'max-duration': { type: 'string' },
      'max-cost': { type: 'string' },
      'keep-going': { type: 'boolean' },
      model: { type: 'string' },
    },
    optionLines: [
      '--runs N         maximum number of runs, 1 to 100 (default 10)',
      '--until TEXT     stop when a response contains TEXT',
      '--delay SECONDS  between runs; --timeout SECONDS per run; --max-duration SECONDS in total',
      '--max-cost USD   stop when this is spent; --keep-going after failed runs; --model NAME',
    ],
    async run({ api, positionals: [name = '', ...words], text, integer, flag, print }) {
      const cost = text('max-cost')
      const body = {
        message: words.join(' '),
        max_runs: integer('runs') ?? 10,
        stop_signal: text('until'),
        delay_seconds: integer('delay'),
        timeout_per_run: integer('timeout'),
        max_duration_seconds: integer('max-duration'),
        max_cost_usd: cost === undefined ? undefined : Number(cost),
        on_failure: flag('keep-going') ? ('continue' as const) : undefined,
        model: text('model'),
      }
      const started = await api.call(startLoop, { params: { name }, body })
      print(started, () => started.loop_id)
    },
  },
  show: {
    parameters: 'LOOP',
    summary: 'Show a loop with its runs and last response.',
    async run({ api, positionals: [loop_id = ''], print }) {
      const loop = await api.call(getLoop, { params: { loop_id } })
      print(loop, () =>
        [
          facts({
            id: loop.loop_id,
            agent: loop.agent_name,
            status: loop.status,
            reason: loop.stop_reason,
            runs: `${loop.runs_completed} of ${loop.max_runs}, ${loop.failed_runs} failed`,
            cost: money(loop.total_cost, loop.cost_estimated),
            error: loop.error,
          }),
          '',
          table(
            ['run', 'execution', 'status', 'took', 'cost'],
            loop.runs.map((run) => [
              String(run.run_number),
              run.execution_id,
              run.status,
              seconds(run.duration_ms),
              money(run.cost, run.cost_estimated),
            ]),
          ),
          ...(loop.last_response ? ['', plainText(loop.last_response)] : []),
        ].join('\n'),
      )
    },
  },
  stop: {
    parameters: 'LOOP',
    summary: 'Stop a loop; its current run finishes.',
    async run({ api, positionals: [loop_id = ''], print }) {
      const reply = await api.call(stopLoop, { params: { loop_id } })
      print(reply, () => reply.status)
    },
  },
})
