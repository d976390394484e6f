import type { ScheduleError, ScheduleErrorCode } from '@roost/contracts/agents/registry'
import type { TemplateSchedule } from '@roost/contracts/agents/templates'
import { isTimezone, readCron } from '@roost/contracts/kit/cron'
import { z } from 'zod'

export const maxTemplateSchedules = 20

const anything = z.unknown().optional()
/** The keys of an entry; `parseEntry` checks the values. */
export const ScheduleEntry = z.object({
  name: anything,
  cron: anything,
  cron_expression: anything,
  message: anything,
  enabled: anything,
  timezone: anything,
  description: anything,
})

export type ParsedSchedules = { schedules: TemplateSchedule[]; errors: ScheduleError[] }

/**
 * Parses the `schedules` block of a template. A malformed entry is dropped with a named error. Entries beyond
 * the twentieth are dropped with one error for all.
 */
export function parseTemplateSchedules(block: unknown): ParsedSchedules {
  const parsed: ParsedSchedules = { schedules: [], errors: [] }
  if (block === undefined || block === null) return parsed
  if (!Array.isArray(block)) {
    parsed.errors.push({ index: 0, error: 'not_an_object', message: 'The schedules block must be a list.' })
    return parsed
  }
  for (const [index, entry] of block.slice(0, maxTemplateSchedules).entries()) {
    const outcome = parseEntry(entry)
    if ('error' in outcome) parsed.errors.push({ index, ...outcome })
    else parsed.schedules.push(outcome)
  }
  if (block.length > maxTemplateSchedules) {
    const message = `A template may declare ${maxTemplateSchedules} schedules; ${block.length - maxTemplateSchedules} were skipped.`
    parsed.errors.push({ index: maxTemplateSchedules, error: 'too_many_schedules', message })
  }
  return parsed
}

type EntryError = { error: ScheduleErrorCode; message: string; name?: string }

function parseEntry(entry: unknown): TemplateSchedule | EntryError {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    return { error: 'not_an_object', message: 'The entry must have name, cron and message.' }
  }
  const fields = entry as Record<string, unknown>
  const name = textOf(fields.name)
  if (!name || name.length > 200) {
    return { error: 'missing_name', message: 'The entry needs a name of 1 to 200 characters.' }
  }
  const message = textOf(fields.message)
  if (!message || message.length > 100_000) {
    return {
      error: 'missing_message',
      message: 'The entry needs a message of 1 to 100,000 characters.',
      name,
    }
  }
  const cron = textOf(fields.cron) ?? textOf(fields.cron_expression)
  if (!cron) return { error: 'missing_cron', message: 'The entry needs a cron expression.', name }
  const read = readCron(cron)
  if (typeof read === 'string') {
    return { error: 'invalid_cron_expression', message: `"${cron.slice(0, 100)}" ${read}.`, name }
  }
  const timezone = fields.timezone === undefined || fields.timezone === null ? 'UTC' : textOf(fields.timezone)
  if (!timezone || !isTimezone(timezone)) {
    return { error: 'invalid_timezone', message: 'The timezone is not a known IANA zone.', name }
  }
  const description = textOf(fields.description)?.slice(0, 2000) ?? null
  return { name, cron, message, enabled: fields.enabled !== false, timezone, description }
}

/** Null also for text with NUL, which not every database can store. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' && !value.includes('\0') ? value.trim() : null
}
