import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
  listScheduleExecutions,
  listSchedules,
  triggerSchedule,
} from '@roost/contracts/triggers/schedules'
import { verbsCommand } from './client/client-command.ts'
import { facts, money, seconds, table, time } from './client/output.ts'

type Params = { params: { name: string; id: string } }
const of = ([name = '', id = '']: string[]): Params => ({ params: { name, id } })

export const schedules = verbsCommand('schedules', 'Tasks at times: list, create, pause, fire by hand.', {
  list: {
    takes: 'AGENT',
    summary: 'The schedules of an agent.',
    async run({ api, positionals: [name = ''], print }) {
      const found = await api.call(listSchedules, { params: { name } })
      print(found, () =>
        table(
          ['id', 'name', 'cron', 'zone', 'state', 'next', 'last'],
          found.map((schedule) => [
            schedule.id,
            schedule.name,
            schedule.cron_expression,
            schedule.timezone,
            schedule.registration_error ?? (schedule.enabled ? 'on' : 'off'),
            time(schedule.next_run_at),
            schedule.last_run_status ?? '',
          ]),
        ),
      )
    },
  },
  show: {
    takes: 'AGENT ID',
    summary: 'One schedule.',
    async run({ api, positionals, print }) {
      const schedule = await api.call(getSchedule, of(positionals))
      print(schedule, () =>
        facts({
          name: schedule.name,
          cron: `${schedule.cron_expression} (${schedule.timezone})`,
          state: schedule.enabled ? 'on' : 'off',
          next: time(schedule.next_run_at),
          last: time(schedule.last_run_at),
          retries: schedule.max_retries,
          message: schedule.message,
        }),
      )
    },
  },
  create: {
    takes: 'AGENT NAME CRON MESSAGE…',
    summary: 'Create a schedule; CRON has five fields in one argument: "0 9 * * MON-FRI".',
    options: {
      timezone: { type: 'string' },
      timeout: { type: 'string' },
      retries: { type: 'string' },
      model: { type: 'string' },
      disabled: { type: 'boolean' },
    },
    optionLines: [
      '--timezone ZONE  such as Europe/Berlin (UTC); --timeout SECONDS; --retries N; --model NAME; --disabled',
    ],
    async run({ api, positionals, text, integer, flag, print }) {
      const [agent = '', name = '', cron_expression = '', ...words] = positionals
      const made = await api.call(createSchedule, {
        params: { name: agent },
        body: {
          name,
          cron_expression,
          message: words.join(' '),
          timezone: text('timezone'),
          timeout_seconds: integer('timeout'),
          max_retries: integer('retries'),
          model: text('model'),
          enabled: !flag('disabled'),
        },
      })
      print(made, () => `${made.id}${made.next_run_at ? `, next at ${time(made.next_run_at)}` : ''}`)
    },
  },
  enable: {
    takes: 'AGENT ID',
    summary: 'Let a schedule fire.',
    async run({ api, positionals, print }) {
      const reply = await api.call(enableSchedule, of(positionals))
      print(reply, () => reply.status)
    },
  },
  disable: {
    takes: 'AGENT ID',
    summary: 'Keep a schedule from firing.',
    async run({ api, positionals, print }) {
      const reply = await api.call(disableSchedule, of(positionals))
      print(reply, () => reply.status)
    },
  },
  trigger: {
    takes: 'AGENT ID',
    summary: 'Fire a schedule now; prints the id of the run.',
    async run({ api, positionals, print }) {
      const reply = await api.call(triggerSchedule, of(positionals))
      print(reply, () => reply.execution_id)
    },
    runs: {
      parameters: 'AGENT ID',
      summary: 'List the executions of a schedule.',
      async run({ api, positionals, print }) {
        const runList = await api.call(listScheduleExecutions, scheduleParams(positionals))
        print(runList, () =>
          table(
            ['id', 'status', 'cause', 'created', 'took', 'cost'],
            runList.map((run) => [
              run.id,
              run.status,
              run.triggered_by,
              time(run.created_at),
              seconds(run.duration_ms),
              money(run.cost, run.cost_estimated),
            ]),
          ),
        )
      },
    },
  },
  delete: {
    takes: 'AGENT ID',
    summary: 'Delete a schedule; an admin can recover it for 30 days.',
    async run({ api, positionals, print }) {
      await api.call(deleteSchedule, of(positionals))
      print({ status: 'deleted' }, () => 'Deleted.')
    },
  },
})
