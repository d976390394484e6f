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
import { type Tool, tool } from '../tool.ts'
import { agentName, model } from './parameters.ts'

const scheduleId = z.string().min(1).describe('The id of the schedule, as list_agent_schedules gives it.')
const one = { agent_name: agentName, schedule_id: scheduleId } as const
const cron = z
  .string()
  .describe('Five fields: minute hour day-of-month month day-of-week, such as "0 9 * * MON-FRI".')
const timezone = z.string().describe('IANA zone such as "Europe/Berlin".')
/** Fields that are changed in the same way as they are made. */
const common = {
  description: z.string().nullable().optional(),
  timeout_seconds: z.number().int().nullable().optional().describe("At most the agent's own timeout."),
  allowed_tools: z.array(z.string()).nullable().optional(),
  model: model.nullable(),
  validation_enabled: z
    .boolean()
    .optional()
    .describe('Ask the agent afterwards whether the run did its job.'),
  validation_prompt: z.string().nullable().optional(),
  validation_timeout_seconds: z.number().int().min(30).max(600).optional(),
  deliver_to_workspace_email: z
    .string()
    .nullable()
    .optional()
    .describe('Whose chat with the agent gets the result of each run; null for nobody.'),
} as const

const params = ({ agent_name, schedule_id }: { agent_name: string; schedule_id: string }) => ({
  params: { name: agent_name, id: schedule_id },
})

export const scheduleTools: Tool[] = [
  tool({
    name: 'list_agent_schedules',
    description:
      'The schedules of an agent: what it does at which times, when next, and how the last run ended.',
    audience: 'everyone',
    effect: 'read',
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
      'Let an agent do something at certain times, by a cron expression in a time zone. An agent may do this for itself.',
    audience: 'everyone',
    effect: 'write',
    input: {
      agent_name: agentName,
      name: z.string().min(1).describe('A short name for people.'),
      cron_expression: cron,
      message: z.string().min(1).describe('What the agent is asked each time.'),
      timezone: timezone.default('UTC'),
      enabled: z.boolean().default(true),
      max_retries: z
        .number()
        .int()
        .min(0)
        .max(5)
        .default(1)
        .describe('How often a failed run is tried again.'),
      retry_delay_seconds: z.number().int().min(30).max(600).default(60),
      ...common,
    },
    output: Schedule,
    run: ({ api }, { agent_name, model, ...body }) =>
      api.call(createSchedule, {
        params: { name: agent_name },
        body: { ...body, model: model ?? undefined },
      }),
  }),
  tool({
    name: 'update_agent_schedule',
    description: 'Change a schedule. What is left out stays as it is; null clears.',
    audience: 'everyone',
    effect: 'write',
    input: {
      ...one,
      name: z.string().min(1).optional(),
      cron_expression: cron.optional(),
      message: z.string().min(1).optional(),
      timezone: timezone.optional(),
      enabled: z.boolean().optional(),
      max_retries: z.number().int().min(0).max(5).optional(),
      retry_delay_seconds: z.number().int().min(30).max(600).optional(),
      ...common,
    },
    output: Schedule,
    run: ({ api }, { agent_name, schedule_id, ...body }) =>
      api.call(updateSchedule, { ...params({ agent_name, schedule_id }), body }),
  }),
  tool({
    name: 'get_agent_schedule',
    description: 'One schedule in full.',
    audience: 'everyone',
    effect: 'read',
    input: one,
    output: Schedule,
    run: ({ api }, asked) => api.call(getSchedule, params(asked)),
  }),
  tool({
    name: 'delete_agent_schedule',
    description: 'Delete a schedule. It stops at once; its history stays.',
    audience: 'everyone',
    effect: 'destroy',
    input: one,
    async run({ api }, asked) {
      await api.call(deleteSchedule, params(asked))
      return { status: 'deleted', schedule_id: asked.schedule_id }
    },
  }),
  tool({
    name: 'toggle_agent_schedule',
    description: 'Let a schedule fire, or keep it from firing.',
    audience: 'everyone',
    effect: 'write',
    input: { ...one, enabled: z.boolean() },
    run: ({ api }, { enabled, ...asked }) =>
      api.call(enabled ? enableSchedule : disableSchedule, params(asked)),
  }),
  tool({
    name: 'trigger_agent_schedule',
    description:
      'Fire a schedule now, whatever its times say. Answers at once with the execution_id of the run.',
    audience: 'everyone',
    effect: 'write',
    input: one,
    async run({ api }, asked) {
      const { status, schedule_id, execution_id } = await api.call(triggerSchedule, params(asked))
      const message = 'The run was started; get_execution_result brings its result.'
      return { status, schedule_id, execution_id, message }
    },
  }),
  tool({
    name: 'get_schedule_executions',
    description: 'The newest runs of one schedule, or of all schedules of an agent.',
    audience: 'everyone',
    effect: 'read',
    input: {
      agent_name: agentName,
      schedule_id: scheduleId.optional(),
      limit: z.number().int().min(1).max(200).default(20),
    },
    async run({ api }, { agent_name, schedule_id, limit }) {
      const query = { limit: String(limit) }
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
