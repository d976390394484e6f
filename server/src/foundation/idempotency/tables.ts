export type IdempotencyTables = {
  idempotency_claims: {
    /** SHA-256 of route family, subject and key. */
    scope: string
    /** SHA-256 of the request's body; null where it was not given. */
    body_digest: string | null
    claim_id: string
    state: 'running' | 'finished'
    execution_id: string | null
    fan_out_id: string | null
    /** Id of what the request created; null for runs and for what cannot be deleted. */
    resource_id: string | null
    status: number | null
    /** JSON. */
    body: string | null
    /** 1: the reply is a receipt of work that goes on. */
    receipt: number
    expires_at: string
  }
}

export type ClaimRow = IdempotencyTables['idempotency_claims']
