export type PaidChatsTable = {
  agent_id: string
  enabled: number
  /** Micro-dollars for one message. */
  price_micros: number
  pay_to: string
  network: string
  asset: string
  description: string | null
  updated_at: string
}

/** A run that somebody pays for, until its reply is paid. */
export type PaidTurnsTable = {
  execution_id: string
  agent_id: string
  /** Of the message, with the conversation that it goes on. */
  request_hash: string
  /** An address in small letters, or `proof:` and a hash when nobody says who pays. */
  payer: string
  session_id: string
  /**
   * `running`: the run goes on, or has ended and nothing was collected. `settling`: somebody asks for the money
   * until `busy_until`; after that nobody knows whether it was collected. `unpaid`: it was refused, the reply is
   * kept. `settled`: paid for.
   */
  state: 'running' | 'settling' | 'unpaid' | 'settled'
  /** What is collected while settling, and what it was settled with. */
  proof_hash: string | null
  busy_until: string | null
  network: string
  transaction: string | null
  created_at: string
  /** Of turns that are not settled. */
  expires_at: string
}

/** A proof and the one run that it may pay for. */
export type PaidProofsTable = {
  proof_hash: string
  execution_id: string
  /** Sealed JSON, as it goes to the facilitator; null once that is over. */
  sealed: string | null
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
