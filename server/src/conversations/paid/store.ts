import type { Executor } from '../../ports/database/port.ts'
import type { PaidChatsTable, PaidTables, PaymentsTable } from './tables.ts'

export type OfferRow = PaidChatsTable
export type PaymentRow = PaymentsTable

/** The offers of agents, and the payment log. */
export function paidStore(executor: Executor) {
  const db = executor.withTables<PaidTables>()
  return {
    async offer(agentId: string): Promise<OfferRow | null> {
      const query = db.selectFrom('paid_chats').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },

    async putOffer(row: OfferRow): Promise<void> {
      const { agent_id: _, ...rest } = row
      await db
        .insertInto('paid_chats')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(rest))
        .execute()
    },

    async removeOffer(agentId: string): Promise<void> {
      await db.deleteFrom('paid_chats').where('agent_id', '=', agentId).execute()
    },

    async addPayment(row: PaymentRow): Promise<void> {
      await db.insertInto('payments').values(row).execute()
    },

    async payments(agentId: string, limit: number): Promise<PaymentRow[]> {
      return db
        .selectFrom('payments')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    async removeRejects(before: string): Promise<void> {
      await db
        .deleteFrom('payments')
        .where('action', '=', 'reject')
        .where('created_at', '<', before)
        .execute()
    },
  }
}
