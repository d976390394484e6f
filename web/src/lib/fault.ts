import { ApiError } from '@roost/contracts/client'
import { CodeNotLoaded } from './code.ts'
import { isNetworkFault } from './recovery.ts'

/** A failure as shown to the user. */
export type FaultWords = {
  sentence: string
  /** The API's error code, `http_<status>`, `network_error` or `unexpected_error`. */
  code: string
  /** Set for failures of the platform, to find them in the log. Null otherwise. */
  requestId: string | null
  /** Messages by field of the request body; nested names are dotted. */
  fields: Record<string, string>
}

/** Describes any thrown value for the user. */
export function describeFault(error: unknown): FaultWords {
  if (error instanceof ApiError) return describeApiError(error)
  if (error instanceof CodeNotLoaded) {
    return {
      sentence: 'A part of the application could not be loaded. Roost retries automatically.',
      code: 'network_error',
      requestId: null,
      fields: {},
    }
  }
  if (isNetworkFault(error)) {
    return {
      sentence: 'The platform did not respond. Check the connection and try again.',
      code: 'network_error',
      requestId: null,
      fields: {},
    }
  }
  const sentence = error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.'
  return { sentence, code: 'unexpected_error', requestId: null, fields: {} }
}

/** Path of the platform's page about an error code; null for codes that only this application uses. */
export function helpPathOf(code: string): string | null {
  const isOwn = /^http_\d+$/.test(code) || code === 'network_error' || code === 'unexpected_error'
  return isOwn ? null : `/help/errors/${encodeURIComponent(code)}`
}

function describeApiError(error: ApiError): FaultWords {
  const { body, status } = error
  if (body === null) {
    const sentence = `A proxy in front of the platform failed (status ${status}). Try again later.`
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
    // Lower case marks the rest of a sentence that starts with the field's label.
    if (part === 'body' && name !== '') fields[name] ??= msg
  }
  return { sentence: startUpper(error.message), code, requestId, fields }
}

function startUpper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
