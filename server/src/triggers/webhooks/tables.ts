import type { Schedule } from '../schedules/index.ts'

/** The columns of `schedules` that make its webhook. Booleans are 0 or 1, times ISO 8601 UTC. */
export type WebhookColumns = {
  /** SHA-256 of the token, by which a call finds it; null without a webhook. */
  webhook_token_hash: string | null
  /** Sealed by the vault, so that its owner can be shown the address again. */
  webhook_token_sealed: string | null
  /** Sealed; null: calls need no signature. */
  webhook_secret_sealed: string | null
  /** The signature is of time and body together. */
  webhook_signs_time: number
  webhook_created_at: string | null
  /** When it last fired. */
  webhook_last_called_at: string | null
}

export type WebhookTables = { schedules: Schedule & WebhookColumns }
