import type { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { Banner } from '../../ui/banner.tsx'

/** What is wrong, by field; `all` for what concerns no single one, with its code. */
export type AskErrors = { [field: string]: string } & { all?: string; code?: string }

/** What the server's own schema says of a body, by the field at its top. */
export function errorsOf(schema: z.ZodType, body: unknown): AskErrors {
  const parsed = schema.safeParse(body)
  if (parsed.success) return {}
  const errors: AskErrors = {}
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? 'all')
    errors[field] ??= path.length > 1 ? `${path.slice(1).join('.')}: ${message}` : message
  }
  return errors
}

/** A refusal by field; the whole of it where it names no field that is shown. */
export function faultsOf(error: unknown): AskErrors {
  const { fields, sentence, code } = describeFault(error)
  const errors: AskErrors = {}
  for (const [name, text] of Object.entries(fields)) {
    const [field = name] = name.split('.')
    errors[shownFields.includes(field) ? field : 'all'] ??= text
  }
  if (Object.keys(errors).length > 0) return errors
  return { all: sentence, code }
}

const shownFields = ['model', 'allowed_tools', 'timeout_seconds', 'max_concurrency']

/** What is wrong and stands at no field of its own. */
export function AskFault({ errors }: { errors: AskErrors }) {
  const words = errors.all ?? errors.message ?? errors.files ?? errors.tasks
  if (words === undefined) return null
  return (
    <Banner tone="danger" title="Not sent">
      <p className="break-words">{words}</p>
      {errors.code && <code className="text-xs">{errors.code}</code>}
    </Banner>
  )
}
