import type { FieldsOf } from '@roost/contracts/kit/event'
import type { agentCollaboration } from '@roost/contracts/runs/executions'
import type { NewEvent } from '../../foundation/outbox/index.ts'
import type { ExecutionRow } from '../executions/index.ts'

/**
 * One agent has asked another for something; null when nobody or the agent itself asked. `first` is the run
 * that was taken in, of several the first.
 */
export function collaborationEvent(first: ExecutionRow): NewEvent | null {
  const { source_agent_id, source_agent_name, agent_id, agent_name } = first
  if (source_agent_id === null || source_agent_name === null || source_agent_id === agent_id) return null
  const fields: FieldsOf<typeof agentCollaboration> = {
    source_agent: source_agent_name,
    target_agent: agent_name,
    action: actionOf(first),
    execution_id: first.id,
  }
  return {
    type: 'agent.collaboration',
    agent_names: [source_agent_name, agent_name],
    agent_ids: [source_agent_id, agent_id],
    fields,
  }
}

function actionOf({ kind, loop_id, fan_out_id }: ExecutionRow): 'chat' | 'task' | 'fan_out' | 'loop' {
  if (loop_id !== null) return 'loop'
  if (fan_out_id !== null) return 'fan_out'
  return kind
}
