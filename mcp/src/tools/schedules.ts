import { listAgentExecutions } from '@roost/contracts/runs/executions'
import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
  listScheduleExecutions,
  listSchedules,
  Schedule,
  triggerSchedule,
  updateSchedule,
} from '@roost/contracts/triggers/schedules'
import { z } from 'zod'
import { asQuery, bodyOf, described, pathOf, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, words } from './parameters.ts'

const byId = { as: { '{id}': 'schedule_id' } }
const scheduleId = pathOf(getSchedule).id.describe(
  'The id of the schedule, as list_agent_schedules returns it.',
)
const one = { agent_name: agentName, schedule_id: scheduleId } as const
const fieldWords = {
  name: 'A short name for people.',
  cron_expression: 'Five fields: minute hour day-of-month month day-of-week, such as "0 9 * * MON-FRI".',
  message: 'The message that the agent gets each time.',
  timezone: 'IANA zone such as "Europe/Berlin".',
  misfire_policy:
    'For times missed by at most an hour: run_once fires the newest, run_all each of them, skip none.',
  max_retries: 'How often a failed run is retried.',
  timeout_seconds: "At most the agent's own timeout, which is the default.",
  model: words.model,
  undo_failed: 'Restore the workspace to before a run if it or its validation fails.',
  validation_enabled: 'Ask the agent after each run whether the run did its job.',
  deliver_to_workspace_email:
    'The person whose chat with the agent gets the result of each run; null for nobody.',
} as const

const params = ({ agent_name, schedule_id }: { agent_name: string; schedule_id: string }) => ({
  params: { name: agent_name, id: schedule_id },
})

export const scheduleTools: Tool[] = [
  tool({
    name: 'list_agent_schedules',
    description: 'The schedules of an agent with their times, the next run and the outcome of the last one.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listSchedules)],
    input: { agent_name: agentName },
    async run({ api }, { agent_name }) {
      const schedules = await api.call(listSchedules, { params: { name: agent_name } })
      return { agent_name, schedules, count: schedules.length }
    },
  }),
  tool({
    name: 'create_agent_schedule',
    isCore: true,
    description:
      'Run a message on an agent at certain times, by a cron expression in a time zone. An agent may do this for itself.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(createSchedule)],
    input: {
      agent_name: agentName,
      ...described(bodyOf(createSchedule), fieldWords),
      max_retries: bodyOf(createSchedule).max_retries.unwrap().default(1).describe(fieldWords.max_retries),
    },
    output: Schedule,
    run: ({ api }, { agent_name, ...body }) =>
      api.call(createSchedule, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'update_agent_schedule',
    description: 'Change a schedule. Omitted fields stay as they are; null clears a field.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(updateSchedule, byId)],
    input: { ...one, ...described(bodyOf(updateSchedule), fieldWords) },
    output: Schedule,
    run: ({ api }, { agent_name, schedule_id, ...body }) =>
      api.call(updateSchedule, { ...params({ agent_name, schedule_id }), body }),
  }),
  tool({
    name: 'get_agent_schedule',
    description: 'All settings of one schedule.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getSchedule, byId)],
    input: one,
    output: Schedule,
    run: ({ api }, input) => api.call(getSchedule, params(input)),
  }),
  tool({
    name: 'delete_agent_schedule',
    description: 'Delete a schedule. It stops immediately; its history stays.',
    audience: 'everyone',
    effect: 'destroy',
    requests: [request(deleteSchedule, byId)],
    input: one,
    async run({ api }, input) {
      await api.call(deleteSchedule, params(input))
      return { status: 'deleted', schedule_id: input.schedule_id }
    },
  }),
  tool({
    name: 'toggle_agent_schedule',
    description: 'Enable or disable a schedule.',
    audience: 'everyone',
    effect: 'write',
    requests: [
      request(enableSchedule, { ...byId, when: { enabled: true } }),
      request(disableSchedule, { ...byId, when: { enabled: false } }),
    ],
    own: { enabled: 'Chooses between the two endpoints.' },
    input: { ...one, enabled: z.boolean() },
    run: ({ api }, { enabled, ...input }) =>
      api.call(enabled ? enableSchedule : disableSchedule, params(input)),
  }),
  tool({
    name: 'trigger_agent_schedule',
    description: 'Run a schedule now, independent of its times. Returns the execution_id immediately.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(triggerSchedule, byId)],
    input: one,
    async run({ api }, input) {
      const { status, schedule_id, execution_id } = await api.call(triggerSchedule, params(input))
      const message = 'The run was started; get_execution_result returns its result.'
      return { status, schedule_id, execution_id, message }
    },
  }),
  tool({
    name: 'get_schedule_executions',
    description: 'The newest runs of one schedule, or of all schedules of an agent.',
    audience: 'everyone',
    effect: 'read',
    requests: [
      request(listAgentExecutions, {
        leftOut: {
          status: 'list_recent_executions filters by status.',
          triggered_by: 'list_recent_executions filters by trigger.',
          error: 'list_recent_executions filters by error code.',
          of_schedules: 'Always true here.',
        },
      }),
      request(listScheduleExecutions, {
        ...byId,
        differs: { '{id}': 'Without it the runs of all schedules are listed.' },
        when: { schedule_id: 's1' },
      }),
    ],
    input: {
      agent_name: agentName,
      schedule_id: scheduleId.optional(),
      limit: queryOf(listScheduleExecutions).limit.unwrap().default(20).describe(words.limit),
      offset: queryOf(listScheduleExecutions).offset.describe(words.offset),
      include: queryOf(listScheduleExecutions).include.describe(
        '`validations` also lists the validations of the runs.',
      ),
    },
    async run({ api }, { agent_name, schedule_id, ...page }) {
      const query = asQuery(page)
      const executions =
        schedule_id === undefined
          ? await api.call(listAgentExecutions, {
              params: { name: agent_name },
              query: { ...query, of_schedules: 'true' },
            })
          : await api.call(listScheduleExecutions, { ...params({ agent_name, schedule_id }), query })
      return { agent_name, executions, count: executions.length }
    },
  }),
]
