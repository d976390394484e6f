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
import { commandGroup } from './client/client-command.ts'
import { facts, money, seconds, table, time } from './client/output.ts'

type Params = { params: { name: string; id: string } }
const scheduleParams = ([name = '', id = '']: string[]): Params => ({ params: { name, id } })

export const schedules = commandGroup(
  'schedules',
  'Schedules of agents: list, create, enable, disable, trigger.',
  {
    list: {
      parameters: 'AGENT',
      summary: 'List the schedules of an agent.',
      async run({ api, positionals: [name = ''], print }) {
        const scheduleList = await api.call(listSchedules, { params: { name } })
        print(scheduleList, () =>
          table(
            ['id', 'name', 'cron', 'zone', 'state', 'next', 'last'],
            scheduleList.map((schedule) => [
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
      parameters: 'AGENT ID',
      summary: 'Show one schedule.',
      async run({ api, positionals, print }) {
        const schedule = await api.call(getSchedule, scheduleParams(positionals))
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
      parameters: 'AGENT NAME CRON MESSAGE…',
      summary: 'Create a schedule. CRON is one argument with five fields: "0 9 * * MON-FRI".',
      options: {
        timezone: { type: 'string' },
        timeout: { type: 'string' },
        retries: { type: 'string' },
        model: { type: 'string' },
        disabled: { type: 'boolean' },
      },
      optionLines: [
        '--timezone ZONE  such as Europe/Berlin (default UTC); --timeout SECONDS; --retries N; --model NAME; --disabled',
      ],
      async run({ api, positionals, text, integer, flag, print }) {
        const [agent = '', name = '', cron_expression = '', ...words] = positionals
        const newSchedule = await api.call(createSchedule, {
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
        print(
          newSchedule,
          () =>
            `${newSchedule.id}${newSchedule.next_run_at ? `, next at ${time(newSchedule.next_run_at)}` : ''}`,
        )
      },
    },
    enable: {
      parameters: 'AGENT ID',
      summary: 'Enable a schedule.',
      async run({ api, positionals, print }) {
        const reply = await api.call(enableSchedule, scheduleParams(positionals))
        print(reply, () => reply.status)
      },
    },
    disable: {
      parameters: 'AGENT ID',
      summary: 'Disable a schedule.',
      async run({ api, positionals, print }) {
        const reply = await api.call(disableSchedule, scheduleParams(positionals))
        print(reply, () => reply.status)
      },
    },
    trigger: {
      parameters: 'AGENT ID',
      summary: 'Run a schedule now; prints the execution id.',
      async run({ api, positionals, print }) {
        const reply = await api.call(triggerSchedule, scheduleParams(positionals))
        print(reply, () => reply.execution_id)
      },
    },
    runs: {
      parameters: 'AGENT ID',
      summary: 'List the executions of a schedule.',
      options: { validations: { type: 'boolean' } },
      optionLines: ['--validations  also list the validations of the runs'],
      async run({ api, positionals, values, print }) {
        const runList = await api.call(listScheduleExecutions, {
          ...scheduleParams(positionals),
          query: values.validations ? { include: 'validations' } : {},
        })
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
    delete: {
      parameters: 'AGENT ID',
      summary: 'Delete a schedule; an admin can restore it for 30 days.',
      async run({ api, positionals, print }) {
        await api.call(deleteSchedule, scheduleParams(positionals))
        print({ status: 'deleted' }, () => 'Deleted.')
      },
    },
  },
)
