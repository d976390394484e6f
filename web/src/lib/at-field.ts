import { ApiError } from '@roost/contracts/client'

/**
 * Adds the field to an error whose code belongs to one field, so that a form can show it there. Returns any
 * other error unchanged.
 */
export function atField(error: unknown, fields: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ApiError) || error.body === null || error.body.field) return error
  const field = Object.entries(fields).find(([code]) => code === error.body?.error)?.[1]
  return field === undefined ? error : new ApiError(error.status, { ...error.body, field })
}
