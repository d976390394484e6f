import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { PaidProofsTable, PaidTables, PaidTurnsTable } from './tables.ts'

export type PaidTurn = PaidTurnsTable
/** A run with the proof by which it was found. */
export type BoundTurn = PaidTurn & Pick<PaidProofsTable, 'sealed'>

/** Paid runs and the proofs that pay for them. Each transition names its start state, so the row decides races. */
export function turnStore(executor: Executor) {
  const db = executor.withTables<PaidTables>()

  const move = async (from: Pick<PaidTurn, 'execution_id' | 'state'>, patch: Partial<PaidTurn>) => {
    const result = await db
      .updateTable('paid_turns')
      .set(patch)
      .where('execution_id', '=', from.execution_id)
      .where('state', '=', from.state)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }

  return {
    /** Returns the run that a proof is bound to; null when the proof is free. */
    async byProof(proofHash: string): Promise<BoundTurn | null> {
      const row = await db
        .selectFrom('paid_turns')
        .innerJoin('paid_proofs', 'paid_proofs.execution_id', 'paid_turns.execution_id')
        .selectAll('paid_turns')
        .select('paid_proofs.sealed')
        .where('paid_proofs.proof_hash', '=', proofHash)
        .executeTakeFirst()
      return row ?? null
    },

    async byId(executionId: string): Promise<PaidTurn | null> {
      const row = await db
        .selectFrom('paid_turns')
        .selectAll()
        .where('execution_id', '=', executionId)
        .executeTakeFirst()
      return row ?? null
    },

    /** Turns of this payer that may have an unpaid reply, newest first. */
    async unpaidOf(
      filter: Pick<PaidTurn, 'agent_id' | 'payer' | 'request_hash'>,
      now: string,
    ): Promise<PaidTurn[]> {
      return db
        .selectFrom('paid_turns')
        .selectAll()
        .where('agent_id', '=', filter.agent_id)
        .where('payer', '=', filter.payer)
        .where('request_hash', '=', filter.request_hash)
        .where('state', '!=', 'settled')
        .where('expires_at', '>', now)
        .orderBy('created_at', 'desc')
        .limit(20)
        .execute()
    },

    async insert(row: PaidTurn): Promise<void> {
      await db.insertInto('paid_turns').values(row).execute()
    },

    /** Returns false when the proof is already bound to a run. */
    async bind(row: PaidProofsTable): Promise<boolean> {
      const result = await db
        .insertInto('paid_proofs')
        .values(row)
        .onConflict((conflict) => conflict.column('proof_hash').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async sealedProof(proofHash: string): Promise<SealedText | null> {
      const row = await db
        .selectFrom('paid_proofs')
        .select('sealed')
        .where('proof_hash', '=', proofHash)
        .executeTakeFirst()
      return row?.sealed ?? null
    },

    /** Claims the settlement until `until`. Returns false when another request holds it. */
    async beginSettling(
      turn: Pick<PaidTurn, 'execution_id' | 'state'>,
      at: { proofHash: string; now: string; until: string },
    ): Promise<boolean> {
      const result = await db
        .updateTable('paid_turns')
        .set({ state: 'settling', proof_hash: at.proofHash, busy_until: at.until })
        .where('execution_id', '=', turn.execution_id)
        .where('state', '=', turn.state)
        .where((e) => e.or([e('busy_until', 'is', null), e('busy_until', '<=', at.now)]))
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async extendSettling(executionId: string, until: string): Promise<void> {
      await move({ execution_id: executionId, state: 'settling' }, { busy_until: until })
    },

    async markSettled(
      executionId: string,
      paid: Pick<PaidTurn, 'transaction' | 'network' | 'payer'>,
    ): Promise<void> {
      await move(
        { execution_id: executionId, state: 'settling' },
        { ...paid, state: 'settled', busy_until: null },
      )
    },

    /** Deletes the content of proofs that paid for runs created until `until`; they stay bound to their runs. */
    async clearSettledProofs(until: string): Promise<void> {
      const settled = db
        .selectFrom('paid_turns')
        .select('execution_id')
        .where('state', '=', 'settled')
        .where('created_at', '<=', until)
      await db
        .updateTable('paid_proofs')
        .set({ sealed: null })
        .where('sealed', 'is not', null)
        .where('execution_id', 'in', settled)
        .execute()
    },

    /** Keeps the reply for another proof and releases this one. */
    async markRefused(executionId: string, proofHash: string, expiresAt: string): Promise<void> {
      const patch = { state: 'unpaid' as const, busy_until: null, proof_hash: null, expires_at: expiresAt }
      await move({ execution_id: executionId, state: 'settling' }, patch)
      await db.deleteFrom('paid_proofs').where('proof_hash', '=', proofHash).execute()
    },

    /** Ends the claim: the money was not collected (`running`), or the outcome is unknown (`settling`). */
    async unclaim(executionId: string, state: 'running' | 'settling'): Promise<void> {
      await move({ execution_id: executionId, state: 'settling' }, { state, busy_until: null })
    },

    /** Releases the proofs of a failed run. */
    async release(executionId: string): Promise<void> {
      await db
        .deleteFrom('paid_turns')
        .where('execution_id', '=', executionId)
        .where('state', '=', 'running')
        .execute()
    },

    async removeExpired(now: string): Promise<void> {
      await db
        .deleteFrom('paid_turns')
        .where('state', '!=', 'settled')
        .where('expires_at', '<=', now)
        .where((e) => e.or([e('busy_until', 'is', null), e('busy_until', '<=', now)]))
        .execute()
    },
  }
}
