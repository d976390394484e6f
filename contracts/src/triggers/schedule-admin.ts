import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { Id, queryBoolean, Timestamp } from '../kit/primitives.ts'
import { ExecutionSummary } from '../runs/executions.ts'
import { Schedule } from './schedules.ts'

const tag = 'Schedules'

export const listDeletedSchedules = endpoint({
  id: 'listDeletedSchedules',
  method: 'GET',
  path: '/api/admin/soft-deleted/schedules',
  summary: 'Deleted schedules that can be recovered, latest deletion first',
  description: 'Schedules of a deleted agent are deleted with it.',
  tag,
  access: { who: 'admin' },
  returns: z.array(
    z.object({
      id: Id,
      agent_name: z.string(),
      name: z.string(),
      deleted_at: Timestamp,
      purge_at: Timestamp.describe('When it is deleted permanently.'),
    }),
  ),
})

export const recoverSchedule = endpoint({
  id: 'recoverSchedule',
  method: 'POST',
  path: '/api/admin/soft-deleted/schedules/{id}/recover',
  summary: 'Recover a deleted schedule, disabled and without a webhook',
  description: "A timeout above the agent's current execution timeout is lowered to it.",
  tag,
  access: { who: 'admin', gate: 'person' },
  params: z.object({ id: z.string() }),
  returns: Schedule,
  fails: ['schedule_not_found'],
  audit: { type: 'configuration', action: 'recover_schedule' },
})

export const FleetSchedules = z.object({
  timestamp: Timestamp,
  summary: z.object({
    total: z.number().int(),
    enabled: z.number().int(),
    disabled: z.number().int(),
    agents_with_schedules: z.number().int(),
  }),
  schedules: z.array(
    Schedule.extend({ last_execution: ExecutionSummary.nullable() }).meta({ id: 'FleetSchedule' }),
  ),
})
export type FleetSchedules = z.output<typeof FleetSchedules>

export const listFleetSchedules = endpoint({
  id: 'listFleetSchedules',
  method: 'GET',
  path: '/api/ops/schedules',
  summary: 'Schedules of all agents, newest first',
  tag,
  access: { who: 'admin', scopes: ['ops'] },
  query: z.object({
    agent_name: z.string().max(63).optional(),
    enabled_only: queryBoolean(false),
  }),
  returns: FleetSchedules,
  fails: ['agent_not_found'],
})

const WhichAgent = z.object({
  agent_name: z.string().max(63).nullish().describe('Only the schedules of this agent.'),
})

export const pauseSchedules = endpoint({
  id: 'pauseSchedules',
  method: 'POST',
  path: '/api/ops/schedules/pause',
  summary: 'Disable all schedules, or those of one agent, until they are resumed',
  tag,
  access: { who: 'admin', gate: 'person' },
  strict: true,
  query: inQuery(WhichAgent),
  body: WhichAgent,
  bodyOptional: true,
  returns: z.object({ success: z.literal(true), message: z.string(), paused_count: z.number().int() }),
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'pause_schedules' },
})

export const resumeSchedules = endpoint({
  id: 'resumeSchedules',
  method: 'POST',
  path: '/api/ops/schedules/resume',
  summary: 'Enable the schedules that a pause disabled',
  tag,
  access: { who: 'admin', gate: 'person' },
  strict: true,
  query: inQuery(WhichAgent),
  body: WhichAgent,
  bodyOptional: true,
  returns: z.object({ success: z.literal(true), message: z.string(), resumed_count: z.number().int() }),
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'resume_schedules' },
})
