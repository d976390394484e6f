import { ApiError } from '@roost/contracts/client'

/**
 * A response in place of a result, because a tool call waits less long than a run may take. The work continues,
 * and the caller reads its result later.
 */
export type Receipt = { status: string; agent: string; message: string; [field: string]: unknown }

const later = (id: unknown) => `Call get_execution_result for ${JSON.stringify(id)} later.`

/** Turns an error of a run request into a receipt; throws any other error. */
export function receiptOf(error: unknown, agent: string): Receipt {
  if (!(error instanceof ApiError) || error.body === null) throw error
  const { body, message } = error
  switch (body.error) {
    case 'sync_wait_exceeded':
      return queuedTimeout(agent, body.execution_id)
    case 'queue_full':
      return {
        status: 'agent_busy',
        agent,
        queue_length: body.queue_length ?? null,
        retry_after_seconds: body.retry_after_seconds ?? null,
        message: `${message} Nothing was started; try again later.`,
      }
    case 'request_in_progress':
      return {
        status: 'request_in_progress',
        agent,
        ...(body.fan_out_id === undefined
          ? {
              execution_id: body.execution_id,
              message: `The same request is still running. ${later(body.execution_id)}`,
            }
          : {
              fan_out_id: body.fan_out_id,
              message: 'The same request is still running. Call get_fan_out_result.',
            }),
      }
    default:
      throw error
  }
}

export function queuedTimeout(agent: string, executionId: unknown): Receipt {
  return {
    status: 'queued_timeout',
    agent,
    execution_id: executionId,
    message: `The run is queued or still running. Do not send the request again. ${later(executionId)}`,
  }
}
