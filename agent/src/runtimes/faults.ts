import type { RunErrorCode, RunMetadata, TerminalReason } from '@roost/contracts/link/runs'
import { shorten } from '../kit/text.ts'
import type { Exit, Outcome } from './port.ts'

/** Details of a failed turn. */
export type Fault = {
  message: string
  /** HTTP status of the model's response; null without one. */
  status?: number | null
}

const maxMessageLength = 4000

/**
 * Returns the named reason of a failed model call. Broker and providers usually put it into the status. Some
 * use words: one provider reports an empty balance as 400.
 */
export function codeOf({ message, status = null }: Fault): RunErrorCode {
  if (/cap_reached/.test(message) || (status === 402 && /\bcap\b/i.test(message))) return 'cap_reached'
  if (/credit balance is too low|insufficient_quota|billing/i.test(message)) return 'billing'
  if (status === 429 || /rate.?limit|too many requests|resource_exhausted/i.test(message))
    return 'rate_limited'
  if (status === 402) return 'billing'
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'model_unsupported'
  if (/model.{0,80}(not found|does not exist|not supported)/i.test(message)) return 'model_unsupported'
  if (status === null && networkWords.test(message)) return 'network'
  return 'agent_error'
}

const networkWords =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EPIPE|socket hang up|fetch failed|network error|connection (error|refused|reset)|error sending request|stream disconnected|unable to connect/i

export function failed(
  fault: Fault,
  rest: { metadata: RunMetadata; sessionId: string | null; errorCode?: RunErrorCode },
): Outcome {
  const errorCode = rest.errorCode ?? codeOf(fault)
  return {
    status: 'failed',
    response: null,
    error: shorten(
      fault.message.trim() || 'The runtime reported an error without details.',
      maxMessageLength,
    ),
    errorCode,
    terminalReason: errorCode === 'auth' ? 'auth' : 'completed',
    metadata: rest.metadata,
    sessionId: rest.sessionId,
  }
}

/** Outcome of a process that ended without a result. */
export function endedWithoutResult(
  exit: Exit,
  rest: { metadata: RunMetadata; sessionId: string | null },
): Outcome {
  const [errorCode, terminalReason, error] = reasonOf(exit)
  return {
    status: 'failed',
    response: null,
    error,
    errorCode,
    terminalReason,
    metadata: rest.metadata,
    sessionId: rest.sessionId,
  }
}

function reasonOf(exit: Exit): [RunErrorCode, TerminalReason, string] {
  if (exit.isOutOfMemory)
    return ['oom', 'crashed', 'The runtime was ended because the agent ran out of memory.']
  const ending = exit.signal ? `was ended by ${exit.signal}` : `ended with code ${exit.code}`
  const stderr = exit.stderr.trim()
  if (stderr === '') return ['no_result', 'empty_result', `The runtime ${ending} without a result.`]
  const message = `The runtime ${ending}: ${shorten(stderr, maxMessageLength)}`
  const status = /\bstatus(?: code)?:? (\d{3})\b/.exec(stderr)?.[1]
  const code = codeOf({ message: stderr, status: status ? Number(status) : null })
  return [code, code === 'auth' ? 'auth' : 'crashed', message]
}
