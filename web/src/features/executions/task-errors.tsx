import type { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { Banner } from '../../ui/banner.tsx'
import { fieldSentence } from '../../ui/field-sentence.ts'

/** Messages by field; `all` for errors without a field, with the error code. */
export type TaskErrors = { [field: string]: string } & { all?: string; code?: string }

/** Validation messages of the server's schema, by top-level field. */
export function errorsOf(schema: z.ZodType, body: unknown): TaskErrors {
  const parsed = schema.safeParse(body)
  if (parsed.success) return {}
  const errors: TaskErrors = {}
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? 'all')
    errors[field] ??= path.length > 1 ? `${path.slice(1).join('.')}: ${message}` : message
  }
  return errors
}

/** Assigns an API error to its field, or to `all` when that field is not shown. */
export function faultsOf(error: unknown): TaskErrors {
  const { fields, sentence, code } = describeFault(error)
  const errors: TaskErrors = {}
  for (const [name, text] of Object.entries(fields)) {
    const [field = name] = name.split('.')
    errors[shownFields.includes(field) ? field : 'all'] ??= text
  }
  if (Object.keys(errors).length > 0) return errors
  return { all: sentence, code }
}

const shownFields = ['model', 'allowed_tools', 'timeout_seconds', 'system_prompt', 'max_concurrency']

const labels = [
  ['all', 'The task'],
  ['message', 'Message'],
  ['files', 'Files'],
  ['tasks', 'Tasks'],
] as const

/** Shows the errors that belong to no field. */
export function TaskFault({ errors }: { errors: TaskErrors }) {
  const [field, label] = labels.find(([name]) => errors[name] !== undefined) ?? []
  const fault = field === undefined ? undefined : errors[field]
  if (fault === undefined || label === undefined) return null
  return (
    <Banner tone="danger" title="Not sent">
      <p className="break-words">{fieldSentence(label, fault)}</p>
      {errors.code && <code className="text-xs">{errors.code}</code>}
    </Banner>
  )
}
