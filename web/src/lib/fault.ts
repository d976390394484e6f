import { ApiError } from '@roost/contracts/client'
import { CodeNotLoaded } from './code.ts'
import { isNetworkFault } from './recovery.ts'

/** What a person is told about a failure. */
export type FaultWords = {
  sentence: string
  /** The API's error code, or `network_error` or `unexpected_error` where no answer of ours came. */
  code: string
  /** Of a failure of the platform, to find it in the log; a refusal explains itself. Else null. */
  requestId: string | null
  /** Failures by field name, dotted for nested ones; of the request's body only. */
  fields: Record<string, string>
}

/** Any thrown thing in words. */
export function describeFault(error: unknown): FaultWords {
  if (error instanceof ApiError) return describeApiError(error)
  if (error instanceof CodeNotLoaded) {
    return {
      sentence: 'A part of the application did not arrive. It is fetched again by itself.',
      code: 'network_error',
      requestId: null,
      fields: {},
    }
  }
  if (isNetworkFault(error)) {
    return {
      sentence: 'The platform did not answer. Check the connection and try again.',
      code: 'network_error',
      requestId: null,
      fields: {},
    }
  }
  const sentence = error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.'
  return { sentence, code: 'unexpected_error', requestId: null, fields: {} }
}

function describeApiError(error: ApiError): FaultWords {
  const { body, status } = error
  if (body === null) {
    const sentence = `The answer (status ${status}) did not come from the platform; something in between failed.`
    return { sentence, code: `http_${status}`, requestId: null, fields: {} }
  }
  const requestId = status === 500 ? (body.request_id ?? null) : null
  const code = typeof body.error === 'string' ? body.error : `http_${status}`
  if (typeof body.detail === 'string') {
    const fields = typeof body.field === 'string' ? { [body.field]: body.detail } : {}
    return { sentence: body.detail, code, requestId, fields }
  }
  const fields: Record<string, string> = {}
  for (const { loc, msg } of body.detail) {
    const [part, ...path] = loc
    const name = path.join('.')
    if (part === 'body' && name !== '') fields[name] ??= startUpper(msg)
  }
  return { sentence: startUpper(error.message), code, requestId, fields }
}

function startUpper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
