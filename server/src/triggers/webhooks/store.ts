import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'
import { type Schedule, scheduleColumns } from '../schedules/index.ts'

/** The columns of `schedules` for its webhook. Booleans are 0 or 1, times ISO 8601 UTC. */
type WebhookColumns = {
  /** SHA-256 of the token, for the lookup; null without a webhook. */
  webhook_token_hash: string | null
  /** Sealed by the vault, so that the owner can see the address again. */
  webhook_token_sealed: SealedText | null
  /** Sealed; null if calls need no signature. */
  webhook_secret_sealed: SealedText | null
  /** 1 if the signature covers time and body. */
  webhook_signs_time: number
  webhook_created_at: string | null
  /** Time of the last fire. */
  webhook_last_called_at: string | null
}

type WebhookTables = { schedules: Schedule & WebhookColumns }

export type WebhookRow = Pick<Schedule, 'id'> & WebhookColumns
/** The data that a call needs, read by one statement. */
export type Called = Schedule & Pick<WebhookColumns, 'webhook_secret_sealed' | 'webhook_signs_time'>

const columns = [
  'id',
  'webhook_token_hash',
  'webhook_token_sealed',
  'webhook_secret_sealed',
  'webhook_signs_time',
  'webhook_created_at',
  'webhook_last_called_at',
] as const satisfies (keyof WebhookTables['schedules'])[]

export function webhookStore(executor: Executor) {
  const db = executor.withTables<WebhookTables>()
  const change = (agentId: string, id: string, patch: Partial<WebhookColumns>) =>
    db
      .updateTable('schedules')
      .set(patch)
      .where('id', '=', id)
      .where('agent_id', '=', agentId)
      .where('deleted_at', 'is', null)

  return {
    /** Null if the agent has no such schedule, or it was deleted. */
    async find(agentId: string, id: string): Promise<WebhookRow | null> {
      const row = await db
        .selectFrom('schedules')
        .select(columns)
        .where('id', '=', id)
        .where('agent_id', '=', agentId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      return row ?? null
    },

    async byToken(hash: string): Promise<Called | null> {
      const row = await db
        .selectFrom('schedules')
        .select([...scheduleColumns, 'webhook_secret_sealed', 'webhook_signs_time'])
        .where('webhook_token_hash', '=', hash)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      return row ?? null
    },

    /** Null as in `find`. */
    async update(agentId: string, id: string, patch: Partial<WebhookColumns>): Promise<WebhookRow | null> {
      return (await change(agentId, id, patch).returning(columns).executeTakeFirst()) ?? null
    },

    /** Like `update`, and null also without a token. */
    async updateLive(
      agentId: string,
      id: string,
      patch: Partial<WebhookColumns>,
    ): Promise<WebhookRow | null> {
      const row = await change(agentId, id, patch)
        .where('webhook_token_hash', 'is not', null)
        .returning(columns)
        .executeTakeFirst()
      return row ?? null
    },

    /** False if the token was replaced or revoked. */
    async markCalled(hash: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('schedules')
        .set({ webhook_last_called_at: at })
        .where('webhook_token_hash', '=', hash)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
  }
}
