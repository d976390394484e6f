import type { Executor } from '../../ports/database/port.ts'
import { type Schedule, scheduleColumns } from '../schedules/index.ts'
import type { WebhookColumns, WebhookTables } from './tables.ts'

export type WebhookRow = Pick<Schedule, 'id'> & WebhookColumns
/** All that a call needs to know, found at once. */
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
    /** Null: no such schedule of this agent, or it is deleted. */
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

    /** The same while there is a token; null also when there is none. */
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

    /** False: the token is not this one any more. */
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
