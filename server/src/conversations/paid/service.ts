import type { PaidReply, Payment } from '@roost/contracts/conversations/paid'
import type { Loop } from '../../background/loops.ts'
import { unprotected } from '../../foundation/idempotency/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { FacilitatorDown, type Payments } from '../../ports/payments/port.ts'
import { createWait, type ExecutionRow, executionStore } from '../../runs/executions/index.ts'
import { outcomeMessage } from '../chat/index.ts'
import { createOffers, type Offers, type OffersDeps } from './offers.ts'
import { createPaymentLog, paymentView } from './payment-log.ts'
import { createProofVault } from './presented.ts'
import { createRedeemProof, type PaidRequest, type RedeemProofDeps, replaySeconds } from './redeem-proof.ts'
import { payerName } from './rules.ts'
import { type Claimed, createSettle } from './settle.ts'
import { paidStore } from './store.ts'
import { type PaidTurn, turnStore } from './turn-store.ts'

export type PaidDeps = OffersDeps &
  AwaitEndDeps &
  Pick<RedeemProofDeps, 'dispatch' | 'executions'> & {
    clock: Clock
    log: Pick<Log, 'warn'>
    vault: Pick<Vault, 'seal' | 'open'>
  }

/** `unpaid`: nothing was collected. `collecting` is set when a settlement was attempted. */
export type Outcome =
  | { kind: 'replied'; reply: PaidReply; isReplay: boolean }
  | { kind: 'unpaid'; reason: string; collecting: { payer: string | null } | null }

export type Paid = {
  offers: Offers
  payments(agentId: string, limit: number): Promise<Payment[]>
  readonly isConfigured: boolean
  /** Throws `not_configured` when this installation collects no payments. */
  requireConfigured(): void
  /**
   * Verifies, runs and settles; `signal` ends only the wait. Throws `request_in_progress`, `upstream_error`,
   * `session_not_found`, `not_found`, `run_failed`, `run_timeout`, `sync_wait_exceeded`, and the faults of accepting a
   * run.
   */
  answer(request: PaidRequest, signal: AbortSignal): Promise<Outcome>
  readonly loops: Loop[]
}

/** How long refused proofs stay in the payment log: anybody can send them. */
const rejectRetentionSeconds = 30 * 24 * 3600

export function createPaid(deps: PaidDeps): Paid {
  const { db, clock } = deps
  const collecting = deps.payments && createCollecting({ ...deps, payments: deps.payments })

  function requireCollecting(): NonNullable<typeof collecting> {
    if (!collecting) throw new Fault('not_configured', 'This installation collects no payments.')
    return collecting
  }

  const responseOf = async ({ execution_id }: PaidTurn): Promise<string | null> =>
    (await executionStore(db).byId(execution_id))?.response ?? null

  return {
    offers: createOffers(deps),
    payments: async (agentId, limit) => (await paidStore(db).payments(agentId, limit)).map(paymentView),
    isConfigured: collecting !== null,
    requireConfigured: () => void requireCollecting(),

    async answer(request, signal) {
      const { redeem, claimOf, settle } = requireCollecting()
      const redeemed = await redeem(request)
      if (redeemed.kind === 'failed') return { kind: 'unpaid', reason: redeemed.reason, collecting: null }
      if (redeemed.kind === 'paid') return replyOutcome(redeemed.turn, await responseOf(redeemed.turn), true)
      const claimed = await claimOf(redeemed, request, signal)
      // Read before the settlement, so that a later database failure cannot withhold a paid reply.
      const response = await responseOf(claimed.turn)
      const settlement = await settle(claimed)
      if (settlement.kind === 'settled') return replyOutcome(settlement.turn, response, false)
      return { kind: 'unpaid', reason: settlement.reason, collecting: { payer: payerName(settlement.payer) } }
    },

    loops: [
      {
        name: 'paid-chat-expiry',
        everySeconds: 3600,
        async run() {
          const now = clock.now()
          await turnStore(db).removeExpired(timestamp(now))
          await turnStore(db).clearSettledProofs(timestamp(secondsLater(now, -replaySeconds)))
          await paidStore(db).removeRejects(timestamp(secondsLater(now, -rejectRetentionSeconds)))
        },
      },
    ],
  }
}

function replyOutcome(turn: PaidTurn, response: string | null, isReplay: boolean): Outcome {
  const { execution_id, session_id, transaction, network } = turn
  const payment = { settled: true as const, transaction, network, payer: payerName(turn.payer) }
  const reply = { status: 'success' as const, response, execution_id, session_id, payment }
  return { kind: 'replied', reply, isReplay }
}

type Redeemed = Awaited<ReturnType<ReturnType<typeof createRedeemProof>>>

/** The parts that need a facilitator. */
function createCollecting(deps: PaidDeps & { payments: Payments }) {
  const proofVault = createProofVault(deps.vault)
  const record = createPaymentLog(deps)
  const { claim, settle } = createSettle({ ...deps, proofVault, record })
  const redeemProof = createRedeemProof({ ...deps, proofVault, record, claim })
  const awaitEnd = createAwaitEnd(deps)
  return {
    settle,

    /** Turns a facilitator failure into `upstream_error`. */
    redeem: (request: PaidRequest) =>
      redeemProof(request).catch((error: unknown) => {
        if (!(error instanceof FacilitatorDown)) throw error
        throw new Fault('upstream_error', error.message, unpaid, { cause: error })
      }),

    /** Waits for a reply, then claims its settlement. */
    async claimOf(
      redeemed: Extract<Redeemed, { kind: 'run' | 'reply' }>,
      request: PaidRequest,
      signal: AbortSignal,
    ): Promise<Claimed> {
      if (redeemed.kind === 'reply') return redeemed.claimed
      await awaitEnd(redeemed.row, signal)
      const claimed = await claim(redeemed.turn, request.proof.hash)
      // The payer has sent the proof again meanwhile, and that request gets the reply.
      if (!claimed) throw new Fault('request_in_progress', undefined, { execution_id: redeemed.row.id })
      return claimed
    },
  }
}

type AwaitEndDeps = Parameters<typeof createWait>[0] & { db: Db }

/** A run that does not succeed is never charged. */
const unpaid = { payment: { settled: false } }

/**
 * Waits for a run to succeed. On `run_failed` and `run_timeout` it releases the proof; the message hides the agent's
 * internals. After `sync_wait_exceeded` the run continues and the proof stays bound.
 */
function createAwaitEnd(deps: AwaitEndDeps) {
  const wait = createWait(deps)
  return async (row: ExecutionRow, signal: AbortSignal): Promise<void> => {
    try {
      // The proof, not an idempotency key, protects the request from being executed twice.
      const result = await wait(row, unprotected, { signal, preferredMs: null })
      if (result.status !== 'success')
        throw new Fault('run_failed', undefined, { error_code: result.error_code })
    } catch (error) {
      if (!isFault(error)) throw error
      const { execution_id, error_code } = { execution_id: row.id, error_code: null, ...error.fields }
      if (error.code === 'sync_wait_exceeded')
        throw new Fault(error.code, undefined, { ...error.fields, ...unpaid })
      await turnStore(deps.db).release(row.id)
      const code = error.code === 'run_timeout' ? error.code : 'run_failed'
      throw new Fault(code, outcomeMessage(error_code), { execution_id, error_code, ...unpaid })
    }
  }
}
