import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Timestamp } from '../kit/primitives.ts'
import { triggers } from './executions.ts'

const tag = 'Tasks'
const count = z.number().int()

export const AgentQueue = z
  .object({
    agent_name: z.string(),
    active: count.describe('Runs that occupy a slot.'),
    queue_length: count,
    queued_executions: z.array(
      z.object({
        execution_id: Id,
        triggered_by: z.enum(triggers),
        queued_at: Timestamp.nullable(),
        position: count.describe('From 1.'),
      }),
    ),
  })
  .meta({ id: 'AgentQueue' })
export type AgentQueue = z.output<typeof AgentQueue>

export const getQueue = endpoint({
  id: 'getQueue',
  method: 'GET',
  path: '/api/agents/{name}/queue',
  summary: 'The queue of an agent, in order',
  description:
    'Lists the first 500. A caller that sees only its own runs gets those, with their positions in the whole queue.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentQueue,
  fails: ['agent_not_found'],
})

export const clearQueue = endpoint({
  id: 'clearQueue',
  method: 'POST',
  path: '/api/agents/{name}/queue/clear',
  summary: 'Cancel all queued runs of an agent; running ones continue',
  tag,
  access: { who: 'owner', gate: 'person' },
  strict: true,
  params: AgentParams,
  returns: z.object({ agent_name: z.string(), cancelled: count }),
  fails: ['agent_not_found', 'owner_required'],
  audit: { type: 'execution', action: 'clear_queue' },
})
