import type { SealedText } from '../../foundation/vault/index.ts'

export type PaidChatsTable = {
  agent_id: string
  enabled: number
  /** Price of one message in micro-dollars. */
  price_micros: number
  pay_to: string
  network: string
  asset: string
  description: string | null
  updated_at: string
}

/** A paid run, until its reply is paid. */
export type PaidTurnsTable = {
  execution_id: string
  agent_id: string
  /** Hash of the message and its conversation. */
  request_hash: string
  /** A lower-case address, or `proof:` and a hash when the payer is unknown. */
  payer: string
  session_id: string
  /**
   * `running`: the run is active, or has ended and nothing was collected. `settling`: claimed until `busy_until`; after
   * that, whether the money was collected is unknown. `unpaid`: refused, the reply is kept. `settled`: paid.
   */
  state: 'running' | 'settling' | 'unpaid' | 'settled'
  /** The proof being settled, or the one that paid. */
  proof_hash: string | null
  busy_until: string | null
  network: string
  transaction: string | null
  created_at: string
  /** Expiry of turns that are not settled. */
  expires_at: string
}

/** A proof and the one run that it may pay for. */
export type PaidProofsTable = {
  proof_hash: string
  execution_id: string
  /** Sealed JSON for the facilitator; null when the paid reply can no longer be fetched again. */
  sealed: SealedText | null
}

export type PaymentsTable = {
  id: string
  agent_id: string
  execution_id: string | null
  action: 'verify' | 'settle' | 'settle_failed' | 'reject'
  payer: string | null
  amount: string
  asset: string
  network: string
  transaction: string | null
  success: number
  error: string | null
  created_at: string
}

export type PaidTables = {
  paid_chats: PaidChatsTable
  paid_turns: PaidTurnsTable
  paid_proofs: PaidProofsTable
  payments: PaymentsTable
}
