import type { Executor } from '../../ports/database/port.ts'
import type { ClaimRow, IdempotencyTables } from './tables.ts'

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

    /** False when somebody else has a claim that is neither expired nor the one that is `superseded`. */
    async take(row: ClaimRow, now: string, superseded: string | null): Promise<boolean> {
      const { scope: _, ...values } = row
      const taken = await db
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
      return taken !== undefined
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
