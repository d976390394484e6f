import { ApiError } from '@roost/contracts/client'

/**
 * Answers that come in place of a result: somebody who calls a tool waits for less long than an agent may
 * work. What was asked goes on in each case; the caller asks for its result later.
 */
export type Receipt = { status: string; agent: string; message: string; [field: string]: unknown }

const later = (id: unknown) => `Ask get_execution_result for ${JSON.stringify(id)} in a while.`

/** The receipt that an error of a run request stands for; throws the error when it is none. */
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
              message: 'The same request is still running. Ask get_fan_out_result.',
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
    message: `The agent works on it still, or it waits for its turn. It is not lost and must not be asked again. ${later(executionId)}`,
  }
}
