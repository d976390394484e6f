import type { Executor } from '../../ports/database/port.ts'

type IdempotencyTables = {
  idempotency_claims: {
    /** SHA-256 of route family, subject and key. */
    scope: string
    /** SHA-256 of the request's body, if known. */
    body_digest: string | null
    claim_id: string
    state: 'running' | 'finished'
    execution_id: string | null
    fan_out_id: string | null
    /** Id of the created resource; null for runs and for resources that cannot be deleted. */
    resource_id: string | null
    status: number | null
    /** JSON. */
    body: string | null
    /** 1: the reply is a receipt; the work continues. */
    receipt: number
    expires_at: string
  }
}

export type ClaimRow = IdempotencyTables['idempotency_claims']

export function claimStore(on: Executor) {
  const db = on.withTables<IdempotencyTables>()
  return {
    find(scope: string, now: string): Promise<ClaimRow | undefined> {
      return db
        .selectFrom('idempotency_claims')
        .selectAll()
        .where('scope', '=', scope)
        .where('expires_at', '>', now)
        .executeTakeFirst()
    },

    /** False when another claim exists that is neither expired nor `superseded`. */
    async take(row: ClaimRow, now: string, superseded: string | null): Promise<boolean> {
      const { scope: _, ...values } = row
      const written = await db
        .insertInto('idempotency_claims')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column('scope')
            .doUpdateSet(values)
            .where((or) =>
              or.or([
                or('idempotency_claims.expires_at', '<=', now),
                or('idempotency_claims.claim_id', '=', superseded ?? ''),
              ]),
            ),
        )
        .returning('claim_id')
        .executeTakeFirst()
      return written !== undefined
    },

    async finish(
      claim: Pick<ClaimRow, 'scope' | 'claim_id'>,
      reply: Pick<ClaimRow, 'state' | 'status' | 'body' | 'receipt' | 'expires_at'>,
    ): Promise<void> {
      await db
        .updateTable('idempotency_claims')
        .set(reply)
        .where('scope', '=', claim.scope)
        .where('claim_id', '=', claim.claim_id)
        .where('state', '=', 'running')
        .execute()
    },

    async release(claim: Pick<ClaimRow, 'scope' | 'claim_id'>): Promise<void> {
      await db
        .deleteFrom('idempotency_claims')
        .where('scope', '=', claim.scope)
        .where('claim_id', '=', claim.claim_id)
        .where('state', '=', 'running')
        .execute()
    },

    async removeExpired(now: string): Promise<void> {
      await db.deleteFrom('idempotency_claims').where('expires_at', '<=', now).execute()
    },
  }
}

export type ClaimStore = ReturnType<typeof claimStore>
