import type { AcceptedTask, CancelledTask, TaskReply } from '@roost/contracts/runs/tasks'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, logText, metadataOf, storedLines } from '../executions/index.ts'

/** The immediate response of an async task; `position` is the one at acceptance. */
export function acceptedBody({ row, position }: { row: ExecutionRow; position: number }): AcceptedTask {
  return {
    status: 'accepted',
    execution_id: row.id,
    agent_name: row.agent_name,
    execution_status: position === 0 ? 'running' : 'queued',
    async_mode: true,
    message:
      position === 0
        ? 'The task was accepted; poll its execution.'
        : `The task was accepted and is number ${position} in the queue; poll its execution.`,
  }
}

/** The response of a successful task without its transcript; always the same for one run. */
export function successBody(row: ExecutionRow): TaskReply {
  return {
    status: 'success',
    execution_id: row.id,
    task_execution_id: row.id,
    response: row.response,
    metadata: metadataOf(row),
    tool_calls: [],
    execution_log: [],
    session_id: row.session_id,
    timestamp: row.completed_at ?? row.created_at,
  }
}

export function cancelledBody(row: Pick<ExecutionRow, 'id'>): CancelledTask {
  return { status: 'cancelled', execution_id: row.id, response: null }
}

/** Streams the full response as JSON text, because it may be large. Throws when `signal` aborts. */
export function replyText(db: Db, reply: TaskReply, signal: AbortSignal): AsyncIterable<string> {
  const { execution_log: _, ...head } = reply
  return logText(head, 'execution_log', storedLines(db, reply.execution_id), signal)
}

/** True for a stored body from `successBody`. */
export function isSuccess(body: unknown): body is TaskReply {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'success'
}
