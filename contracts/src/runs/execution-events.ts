import { z } from 'zod'
import { eventType } from '../kit/event.ts'
import { Id, Money } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'
import { executionErrorCodes, executionStatuses, triggers } from './executions.ts'

const linked = {
  execution_id: Id,
  status: z.enum(executionStatuses),
  triggered_by: z.enum(triggers),
  schedule_id: z.string().optional(),
  loop_id: z.string().optional(),
  fan_out_id: z.string().optional(),
}
/** The preview is omitted for conversations that are private to a person. */
const preview = { message_preview: z.string().optional() }

export const executionCreated = eventType({
  name: 'execution.created',
  stored: true,
  fields: z.object({ ...linked, ...preview }),
})
export const executionStarted = eventType({
  name: 'execution.started',
  stored: true,
  fields: z.object({ ...linked, ...preview }),
})
export const executionFinished = eventType({
  name: 'execution.finished',
  stored: true,
  fields: z.object({
    ...linked,
    duration_ms: z.number().int().nullable(),
    cost: Money.nullable().optional(),
    cost_estimated: CostEstimated.optional(),
    error_code: z.enum(executionErrorCodes).optional(),
  }),
})
export const agentActivity = eventType({
  name: 'agent.activity',
  stored: false,
  fields: z.object({
    execution_id: Id,
    activity_type: z.enum(['chat', 'task', 'tool']),
    activity_state: z.enum(['started', 'completed', 'failed', 'cancelled']),
    action: z.string(),
    tool: z.string().optional(),
  }),
})
/** An agent called another one: a chat turn, a task, a fan-out (its first run) or a run of a loop. */
export const agentCollaboration = eventType({
  name: 'agent.collaboration',
  stored: true,
  fields: z.object({
    source_agent: z.string(),
    target_agent: z.string(),
    action: z.enum(['chat', 'task', 'fan_out', 'loop']),
    execution_id: Id,
  }),
})
