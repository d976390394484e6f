import type { MisfirePolicy } from '@roost/contracts/triggers/schedules'
import type { SealedText } from '../../foundation/vault/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { ExecutionToolsTable } from '../../runs/transcripts/index.ts'

/** One row per schedule. Booleans are 0 or 1, times ISO 8601 UTC. */
export type SchedulesTable = {
  id: string
  /** The first position; orders schedules that were created in the same millisecond. */
  number: number
  agent_id: string
  name: string
  description: string | null
  cron_expression: string
  message: string
  enabled: number
  /** Disabled by a pause of the platform or agent; resuming enables it again. */
  is_paused: number
  timezone: string
  /** The handling of missed due times. */
  misfire_policy: MisfirePolicy
  /** Null takes the agent's cap. */
  timeout_seconds: number | null
  /** JSON array; null allows all. */
  allowed_tools: string | null
  /** Null takes the agent's default. */
  model: string | null
  /** Lower-cased; null delivers to nobody. */
  deliver_to_workspace_email: string | null
  max_retries: number
  retry_delay_seconds: number
  validation_enabled: number
  validation_prompt: string | null
  validation_timeout_seconds: number
  undo_failed: number
  /** Name of the creator: a user name, an agent's name, or `template`. */
  created_by: string
  /** The person who created it; null for an agent or a template. */
  created_by_id: string | null
  /** Who wrote the message: the principal of its runs. */
  principal: string
  /** Who wrote the validation prompt; null: the same principal. */
  validation_principal: string | null
  /** Why the platform disabled it; null when it is enabled or a person disabled it. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  /** Due times count from here: set on creation, on enabling, and when cron or time zone change. */
  armed_at: string
  /** Deleted schedules do not fire, are visible to admins only, and are purged later. */
  deleted_at: string | null
  /** Grows over all schedules with each change; a higher one is never committed before a lower one. */
  position: number
  /** SHA-256; null without a webhook. Only `webhooks` uses the other columns of the webhook. */
  webhook_token_hash: string | null
}

/** The other columns of a webhook, stored with its schedule. */
type WebhookColumns = {
  webhook_token_sealed: SealedText | null
  webhook_secret_sealed: SealedText | null
  webhook_signs_time: number
  webhook_created_at: string | null
  webhook_last_called_at: string | null
}

export type ScheduleChangesTable = { id: number; last_position: number }

export type ScheduleTables = {
  schedules: SchedulesTable & Partial<WebhookColumns>
  schedule_changes: ScheduleChangesTable
  /** Read-only here, like the next table. */
  executions: ExecutionRow
  execution_tools: ExecutionToolsTable
}
