import { z } from 'zod'
import { agentStatuses } from '../agents/agent.ts'
import { credentialsInjections } from '../agents/lifecycle.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { inQuery } from '../kit/in-query.ts'
import { Timestamp } from '../kit/primitives.ts'
import { SkillDelivery } from '../skills/assignments.ts'

const tag = 'Operations'
const adminPerson = { who: 'admin', gate: 'person' } as const
const count = z.number().int()

export const fleetFilters = [...agentStatuses, 'all'] as const
export const fleetResults = ['success', 'failed', 'skipped'] as const
export type FleetResult = (typeof fleetResults)[number]

const which = {
  filter_status: z
    .enum(fleetFilters)
    .nullish()
    .transform((value) => value ?? ('running' as const)),
  name_prefix: z
    .string()
    .max(63)
    .nullish()
    .transform((value) => value ?? '')
    .describe('Only agents whose names start with this prefix.'),
}
export const RestartFleetBody = z.object({
  ...which,
  recreate: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false)
    .describe('Recreate the containers; volumes stay.'),
})
export type RestartFleetBody = z.output<typeof RestartFleetBody>
export const StopFleetBody = z.object(which)
export type StopFleetBody = z.output<typeof StopFleetBody>

export const FleetOutcome = z.object({
  timestamp: Timestamp,
  summary: z.object({
    total: count,
    successes: count,
    failures: count,
    skipped: count,
    recreated: count,
  }),
  results: z.array(
    z.object({
      agent: z.string(),
      result: z.enum(fleetResults),
      reason: z.string().optional().describe('Why the agent was skipped or the action failed.'),
      previous_status: z.enum(agentStatuses),
      recreated: z.boolean(),
      credentials_injection: z.enum(credentialsInjections).optional(),
      skills_injection: SkillDelivery.nullable().optional(),
    }),
  ),
})
export type FleetOutcome = z.output<typeof FleetOutcome>

const oneAtATime =
  'One agent at a time; skips the system agent and ephemeral agents. The work continues if the caller disconnects. 409 while another fleet restart or stop is running.'

export const restartFleet = endpoint({
  id: 'restartFleet',
  method: 'POST',
  path: '/api/ops/fleet/restart',
  summary: 'Restart agents, or recreate their containers',
  description: oneAtATime,
  tag,
  access: adminPerson,
  strict: true,
  query: inQuery(RestartFleetBody),
  body: RestartFleetBody,
  bodyOptional: true,
  returns: FleetOutcome,
  fails: ['fleet_restart_in_progress'],
  audit: { type: 'agent_lifecycle', action: 'restart_fleet' },
})

export const stopFleet = endpoint({
  id: 'stopFleet',
  method: 'POST',
  path: '/api/ops/fleet/stop',
  summary: 'Stop agents',
  description: oneAtATime,
  tag,
  access: adminPerson,
  strict: true,
  query: inQuery(StopFleetBody),
  body: StopFleetBody,
  bodyOptional: true,
  returns: FleetOutcome,
  fails: ['fleet_restart_in_progress'],
  audit: { type: 'agent_lifecycle', action: 'stop_fleet' },
})

export const EmergencyStop = z.object({
  success: z.boolean().describe('True if `errors` is empty.'),
  message: z.string(),
  schedules_paused: count,
  executions_cancelled: count,
  agents_stopped: count,
  errors: z.array(
    z.object({
      step: z.enum(['pause_schedules', 'cancel_executions', 'stop_agent']),
      agent_name: z.string().nullable(),
      message: z.string(),
    }),
  ),
})
export type EmergencyStop = z.output<typeof EmergencyStop>

export const EmergencyStopBody = z.object({
  agent_name: z.string().max(63).nullish().describe('Only this agent.'),
})

export const emergencyStop = endpoint({
  id: 'emergencyStop',
  method: 'POST',
  path: '/api/ops/emergency-stop',
  summary: 'Stop everything: pause schedules, cancel runs, stop agents',
  description:
    'Includes the system agent and ephemeral agents. Failures are collected in `errors` and do not stop the rest. Ends a running fleet restart. `POST /api/ops/schedules/resume` resumes the schedules.',
  tag,
  access: adminPerson,
  strict: true,
  query: inQuery(EmergencyStopBody),
  body: EmergencyStopBody,
  bodyOptional: true,
  returns: EmergencyStop,
  fails: ['agent_not_found'],
  audit: { type: 'agent_lifecycle', action: 'emergency_stop' },
})

export const fleetRestartProgress = eventType({
  name: 'fleet.restart_progress',
  stored: false,
  audience: 'admin',
  fields: z.object({ done: count, total: count, agent_name: z.string(), result: z.enum(fleetResults) }),
})
