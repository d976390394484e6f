import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentName, AgentParams } from '../kit/primitives.ts'
import { SelectableRuntime } from './agent.ts'
import { CreatedAgent } from './registry.ts'

/** Unknown names are refused, because without a record or run the fork is made from now. */
export const ForkAgent = z.strictObject({
  name: AgentName,
  record: z
    .string()
    .max(64)
    .optional()
    .describe('A record of the agent. Without `record` and `run`, the workspace is recorded now.'),
  run: z.string().max(64).optional().describe('A run of the agent, instead of a record.'),
  side: z.enum(['before', 'after']).default('before').describe('Only with `run`.'),
  with_schedules: z
    .boolean()
    .default(false)
    .describe('Copies schedules and event subscriptions, which are disabled in the fork.'),
  with_credentials: z
    .boolean()
    .default(false)
    .describe('Copies credential files of the workspace, and bound credentials.'),
  runtime: SelectableRuntime.optional().describe('Default: that of the agent.'),
  runtime_model: ModelOverride.describe('Default: that of the agent; null takes the default of the runtime.'),
})
export type ForkAgent = z.output<typeof ForkAgent>

export const forkAgent = endpoint({
  id: 'forkAgent',
  method: 'POST',
  path: '/api/agents/{name}/fork',
  summary: 'Create an agent from the workspace and settings of another one',
  description:
    'The fork belongs to the caller. `warnings` names what is not as in the source. Shares, links, keys, conversations, ' +
    'runs and records are not copied. A failed request leaves nothing behind.',
  tag: 'Agents',
  access: { who: 'owner', gate: 'person', role: 'creator' },
  params: AgentParams,
  body: ForkAgent,
  returns: CreatedAgent,
  headers: ['Idempotency-Key'],
  fails: [
    'agent_not_found',
    'record_not_found',
    'execution_not_found',
    'agent_exists',
    'reserved_agent_name',
    'system_agent_protected',
    'invalid_model',
    'agent_quota_exceeded',
    'option_not_offered',
    'agent_stopped',
    'agent_unresponsive',
    'agent_program_outdated',
    'conflict',
    'not_configured',
    'container_engine_error',
    'created_resource_gone',
  ],
  audit: { type: 'agent_lifecycle', action: 'fork' },
})
