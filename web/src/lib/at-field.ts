import { ApiError } from '@roost/contracts/client'

/**
 * A refusal whose code is about one field without naming it, with that field, so that a form can show it there.
 * Anything else comes back as it is.
 */
export function atField(error: unknown, fields: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ApiError) || error.body === null || error.body.field) return error
  const field = Object.entries(fields).find(([code]) => code === error.body?.error)?.[1]
  return field === undefined ? error : new ApiError(error.status, { ...error.body, field })
}
