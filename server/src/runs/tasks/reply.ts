import type { AcceptedTask, CancelledTask, TaskReply } from '@roost/contracts/runs/tasks'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, logText, metadataOf, storedLines } from '../executions/index.ts'

/** What is answered at once; `position` as it was taken in. */
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

/** The reply of a task that succeeded, its transcript left out; the same whenever and wherever it is told. */
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

/** The whole reply as JSON text, which may be larger than what should be held of it; breaks off with `signal`. */
export function replyText(db: Db, reply: TaskReply, signal: AbortSignal): AsyncIterable<string> {
  const { execution_log: _, ...head } = reply
  return logText(head, 'execution_log', storedLines(db, reply.execution_id), signal)
}

/** A stored body that was made by `successBody`. */
export function isSuccess(body: unknown): body is TaskReply {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'success'
}
