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
  skills_injection: SkillDelivery.nullable().describe('Null: it has no skills, or was running already.'),
  recreated: z.boolean(),
  recreate_reason: z.enum(recreateReasons).nullable(),
  /** Of its SSH, by now: another one when another program held the one it had. 0: it has no SSH. */
  port: z.number().int(),
})
export type StartReply = z.output<typeof StartReply>

export const startAgent = endpoint({
  id: 'startAgent',
  method: 'POST',
  path: '/api/agents/{name}/start',
  summary: 'Start an agent',
  description:
    'Answers once the container runs; starting a running agent changes nothing. When another program holds its SSH port meanwhile, it gets another one (`recreate_reason`: `ssh_port`).',
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
  description: 'It stays stopped, also after a reboot. Running executions are cancelled, queued ones wait.',
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
/** The container ended by itself. */
export const agentExited = eventType({
  name: 'agent.exited',
  stored: true,
  fields: z.object({ event: z.string(), data: z.object({ name: z.string(), ...exited }), ...exited }),
})
/** Inside only: it ended so often that it stays down; alerts listen to it. */
export const agentRestartLoop = eventType({
  name: 'agent.restart_loop',
  stored: true,
  audience: 'admin',
  fields: z.object({ exits: z.number().int(), window_seconds: z.number().int(), ...exited }),
})
