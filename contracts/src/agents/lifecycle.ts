import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams } from '../kit/primitives.ts'
import { SkillDelivery } from '../skills/assignments.ts'
import { recreateReasons } from './agent.ts'

const tag = 'Agents'

export const credentialsInjections = ['success', 'nothing_to_inject', 'failed'] as const
export type CredentialsInjection = (typeof credentialsInjections)[number]

export const StartReply = z.object({
  message: z.string(),
  credentials_injection: z.enum(credentialsInjections),
  credentials_result: z.looseObject({}).nullable(),
  skills_injection: SkillDelivery.nullable().describe(
    'Null: the agent has no skills, or was already running.',
  ),
  recreated: z.boolean(),
  recreate_reason: z.enum(recreateReasons).nullable(),
  /** The current SSH port, which changes if another program occupied the previous one. 0: no SSH. */
  port: z.number().int(),
})
export type StartReply = z.output<typeof StartReply>

export const startAgent = endpoint({
  id: 'startAgent',
  method: 'POST',
  path: '/api/agents/{name}/start',
  summary: 'Start an agent',
  description:
    'Replies once the container is running; starting a running agent changes nothing. If another program occupies its SSH port, the agent gets a new port (`recreate_reason`: `ssh_port`).',
  tag,
  access: { who: 'access', gate: 'person' },
  params: AgentParams,
  returns: StartReply,
  fails: ['agent_not_found', 'agent_busy', 'container_engine_error', 'not_configured'],
  audit: { type: 'agent_lifecycle', action: 'start' },
})

export const stopAgent = endpoint({
  id: 'stopAgent',
  method: 'POST',
  path: '/api/agents/{name}/stop',
  summary: 'Stop an agent',
  description:
    'It stays stopped, even after a reboot. Running executions are cancelled; queued ones stay in the queue.',
  tag,
  access: { who: 'access', gate: 'person' },
  params: AgentParams,
  returns: z.object({ message: z.string() }),
  fails: ['agent_not_found', 'agent_busy', 'container_engine_error'],
  audit: { type: 'agent_lifecycle', action: 'stop' },
})

const started = {
  credentials_injection: z.enum(credentialsInjections),
  recreated: z.boolean(),
  port: z.number().int(),
}
const exited = { exit_code: z.number().int().nullable(), oom_killed: z.boolean() }

export const agentStarted = eventType({
  name: 'agent.started',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), ...started }), ...started }),
})
export const agentStopped = eventType({
  name: 'agent.stopped',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string() }) }),
})
/** The container exited unexpectedly. */
export const agentExited = eventType({
  name: 'agent.exited',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), ...exited }), ...exited }),
})
/** Internal, for alerts: the container exited so often that it is not restarted. */
export const agentRestartLoop = eventType({
  name: 'agent.restart_loop',
  stored: true,
  audience: 'admin',
  fields: z.object({ exits: z.number().int(), window_seconds: z.number().int(), ...exited }),
})
