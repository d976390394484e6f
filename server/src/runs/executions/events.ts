import type { NewEvent, ReservedFields } from '../../foundation/outbox/index.ts'
import { dollars, isPrivate, messagePreview } from './rules.ts'
import type { ExecutionRow } from './store.ts'

export function createdEvent(row: ExecutionRow): NewEvent {
  return { ...about(row, 'execution.created'), reserved: preview(row) }
}

export function startedEvent(row: ExecutionRow): NewEvent {
  return { ...about(row, 'execution.started'), reserved: preview(row) }
}

export function finishedEvent(row: ExecutionRow): NewEvent {
  return about(row, 'execution.finished', {
    duration_ms: row.duration_ms,
    cost: dollars(row.cost_micros),
    cost_estimated: row.cost_estimated === 1,
    ...(row.error_code === null ? {} : { error_code: row.error_code }),
  })
}

/** Signal that a run or a tool call starts or ends in the agent. */
export function activitySignal(
  row: Pick<ExecutionRow, 'id' | 'agent_id' | 'agent_name' | 'kind'>,
  state: 'started' | 'completed' | 'failed' | 'cancelled',
  tool?: { name: string; summary: string },
): NewEvent {
  return {
    type: 'agent.activity',
    agent_names: [row.agent_name],
    agent_ids: [row.agent_id],
    fields: {
      execution_id: row.id,
      activity_type: tool ? 'tool' : row.kind,
      activity_state: state,
      action: tool ? tool.summary : row.kind,
      ...(tool ? { tool: tool.name } : {}),
    },
  }
}

function about(row: ExecutionRow, type: string, fields: Record<string, unknown> = {}): NewEvent {
  const { schedule_id, loop_id, fan_out_id } = row
  return {
    type,
    agent_names: [row.agent_name],
    agent_ids: [row.agent_id],
    fields: {
      execution_id: row.id,
      status: row.status,
      triggered_by: row.triggered_by,
      ...(schedule_id === null ? {} : { schedule_id }),
      ...(loop_id === null ? {} : { loop_id }),
      ...(fan_out_id === null ? {} : { fan_out_id }),
      ...fields,
    },
  }
}

/** Everyone with access to the agent gets the event, but not the message of a private conversation. */
function preview(row: ExecutionRow): ReservedFields {
  return {
    fields: { message_preview: messagePreview(row.message) },
    is_open: !isPrivate(row),
    user_id: row.source_user_id,
    key_id: row.source_mcp_key_id,
  }
}
