import { z } from 'zod'
import { agentStatuses, systemAgentName } from '../agents/agent.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Operations'
const path = '/api/system-agent'

export const SystemAgentStatus = z
  .object({
    exists: z.boolean().describe('False only during the first start of the platform.'),
    name: z.literal(systemAgentName),
    status: z.enum(agentStatuses).nullable(),
    container_id: z.string().nullable().describe('Null before its first start.'),
    created_at: Timestamp.nullable(),
    is_system: z.literal(true),
    image_state: z
      .enum(['current', 'stale', 'unknown'])
      .describe('Whether its container uses the image of its next start.'),
  })
  .meta({ id: 'SystemAgentStatus' })
export type SystemAgentStatus = z.output<typeof SystemAgentStatus>

export const getSystemAgent = endpoint({
  id: 'getSystemAgent',
  method: 'GET',
  path: `${path}/status`,
  summary: 'Status of the system agent',
  tag,
  access: { who: 'admin' },
  returns: SystemAgentStatus,
})

export const systemAgentSteps = ['stopped', 'workspace_emptied', 'key_renewed', 'started'] as const
export const SystemAgentAct = z
  .object({
    success: z.literal(true),
    message: z.string(),
    name: z.literal(systemAgentName),
    status: z.enum(agentStatuses),
    steps_completed: z.array(z.enum(systemAgentSteps)),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'SystemAgentAct' })
export type SystemAgentAct = z.output<typeof SystemAgentAct>

const act = {
  method: 'POST',
  tag,
  access: { who: 'admin', gate: 'human' },
  strict: true,
  returns: SystemAgentAct,
  fails: ['agent_not_found', 'agent_busy', 'container_engine_error', 'not_configured'],
} as const

export const restartSystemAgent = endpoint({
  ...act,
  id: 'restartSystemAgent',
  path: `${path}/restart`,
  summary: 'Restart the system agent, or start it if it is stopped',
  audit: { type: 'agent_lifecycle', action: 'restart_system_agent' },
})

export const reinitializeSystemAgent = endpoint({
  ...act,
  id: 'reinitializeSystemAgent',
  path: `${path}/reinitialize`,
  summary: 'Give the system agent an empty workspace and a new key',
  description:
    'Its executions and conversations are kept. It runs again if it ran before. Its old key is invalid immediately, and its next start creates the new one.',
  audit: { type: 'agent_lifecycle', action: 'reinitialize_system_agent' },
})
