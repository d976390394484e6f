import type { Payment } from '@roost/contracts/conversations/paid'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { Requirements } from './rules.ts'
import { type PaymentRow, paidStore } from './store.ts'

export type PaymentEntry = Pick<PaymentRow, 'action' | 'payer'> &
  Partial<Pick<PaymentRow, 'execution_id' | 'transaction' | 'error'>>

/** Records the outcome of a payment step. */
export function createPaymentLog({ clock }: { clock: Pick<Clock, 'now'> }) {
  return async (
    on: Executor,
    { agentId, terms }: { agentId: string; terms: Requirements },
    entry: PaymentEntry,
  ): Promise<void> => {
    const empty = { execution_id: null, transaction: null, error: null }
    await paidStore(on).addPayment({
      ...empty,
      ...entry,
      id: newId(),
      agent_id: agentId,
      amount: terms.amount,
      asset: terms.asset,
      network: terms.network,
      success: entry.action === 'verify' || entry.action === 'settle' ? 1 : 0,
      created_at: timestamp(clock.now()),
    })
  }
}

export type PaymentLog = ReturnType<typeof createPaymentLog>

export function paymentView(row: PaymentRow): Payment {
  const { agent_id: _, success, ...rest } = row
  return { ...rest, success: success === 1 }
}
