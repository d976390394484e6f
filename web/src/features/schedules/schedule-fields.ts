import { CreateSchedule, type Schedule } from '@roost/contracts/triggers/schedules'
import type { z } from 'zod'

/** The request body with all fields. */
export const ScheduleForm = CreateSchedule
export type ScheduleFields = z.output<typeof CreateSchedule>
export type ScheduleInput = z.input<typeof CreateSchedule>

/** The initial values: the stored schedule, or a new one for every morning in the user's time zone. */
export function initialFields(stored: Partial<Schedule> | null, zone: string): ScheduleInput {
  return {
    name: stored?.name ?? '',
    description: stored?.description ?? null,
    message: stored?.message ?? '',
    cron_expression: stored?.cron_expression ?? '0 9 * * *',
    timezone: stored?.timezone ?? zone,
    enabled: stored?.enabled ?? true,
    misfire_policy: stored?.misfire_policy ?? 'run_once',
    timeout_seconds: stored?.timeout_seconds ?? null,
    model: stored?.model ?? null,
    allowed_tools: stored?.allowed_tools ?? null,
    max_retries: stored?.max_retries ?? 0,
    retry_delay_seconds: stored?.retry_delay_seconds ?? 60,
    deliver_to_workspace_email: stored?.deliver_to_workspace_email ?? null,
    validation_enabled: stored?.validation_enabled ?? false,
    validation_prompt: stored?.validation_prompt ?? null,
    validation_timeout_seconds: stored?.validation_timeout_seconds ?? 120,
    undo_failed: stored?.undo_failed ?? false,
  }
}

/** Fields of error codes that do not name one. */
export const fieldOfCode = {
  invalid_cron_expression: 'cron_expression',
  invalid_timezone: 'timezone',
  invalid_recipient: 'deliver_to_workspace_email',
  delivery_target_requires_owner: 'deliver_to_workspace_email',
  schedule_timeout_exceeds_agent_cap: 'timeout_seconds',
  invalid_model: 'model',
}

/** Fields behind “More”, which opens when one of them is set or invalid. */
export const furtherFields = [
  'description',
  'timeout_seconds',
  'model',
  'allowed_tools',
  'max_retries',
  'retry_delay_seconds',
  'misfire_policy',
  'deliver_to_workspace_email',
  'validation_enabled',
  'validation_prompt',
  'validation_timeout_seconds',
  'undo_failed',
] as const
