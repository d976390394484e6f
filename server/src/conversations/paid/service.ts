import type { PaidReply, Payment } from '@roost/contracts/conversations/paid'
import type { Loop } from '../../background/loops.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Log } from '../../ports/log.ts'
import { FacilitatorDown, type Payments } from '../../ports/payments/port.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { type AwaitEndDeps, createAwaitEnd } from './await-end.ts'
import { createOffers, type Offers, type OffersDeps } from './offers.ts'
import { createPaymentLog, shownPayment } from './payment-log.ts'
import { createKeeping } from './presented.ts'
import { type Asked, createRedeemProof, type RedeemProofDeps } from './redeem-proof.ts'
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

/** `unpaid`: nothing was collected; `collecting` when it was tried. */
export type Outcome =
  | { kind: 'replied'; reply: PaidReply; isReplay: boolean }
  | { kind: 'unpaid'; reason: string; collecting: { payer: string | null } | null }

export type Paid = {
  offers: Offers
  payments(agentId: string, limit: number): Promise<Payment[]>
  readonly isConfigured: boolean
  /** Throws `not_configured` when this installation collects no payments. */
  refuseUnconfigured(): void
  /**
   * Verifies, runs, settles; `signal` ends the waiting alone. Throws `request_in_progress`, `upstream_error`,
   * `session_not_found`, `not_found`, `run_failed`, `run_timeout`, `sync_wait_exceeded`, and what taking a run in
   * throws.
   */
  answer(asked: Asked, signal: AbortSignal): Promise<Outcome>
  readonly loops: Loop[]
}

/** Refused proofs are told of for so long; anybody can send them. */
const rejectSeconds = 30 * 24 * 3600

export function createPaid(deps: PaidDeps): Paid {
  const { db, clock } = deps
  const collecting = deps.payments && createCollecting({ ...deps, payments: deps.payments })

  function configured(): NonNullable<typeof collecting> {
    if (!collecting) throw new Fault('not_configured', 'This installation collects no payments.')
    return collecting
  }

  const responseOf = async ({ execution_id }: PaidTurn): Promise<string | null> =>
    (await executionStore(db).byId(execution_id))?.response ?? null

  return {
    offers: createOffers(deps),
    payments: async (agentId, limit) => (await paidStore(db).payments(agentId, limit)).map(shownPayment),
    isConfigured: collecting !== null,
    refuseUnconfigured: () => void configured(),

    async answer(asked, signal) {
      const { take, claimOf, settle } = configured()
      const taken = await take(asked)
      if (taken.kind === 'failed') return { kind: 'unpaid', reason: taken.reason, collecting: null }
      if (taken.kind === 'paid') return replied(taken.turn, await responseOf(taken.turn), true)
      const claimed = await claimOf(taken, asked, signal)
      // Read before it is paid: then the payer gets it whatever the database does.
      const response = await responseOf(claimed.turn)
      const settlement = await settle(claimed)
      if (settlement.kind === 'settled') return replied(settlement.turn, response, false)
      return { kind: 'unpaid', reason: settlement.reason, collecting: { payer: payerName(settlement.payer) } }
    },

    loops: [
      {
        name: 'paid-chat-expiry',
        everySeconds: 3600,
        async run() {
          const now = clock.now()
          await turnStore(db).removeExpired(timestamp(now))
          await paidStore(db).removeRejects(timestamp(secondsLater(now, -rejectSeconds)))
        },
      },
    ],
  }
}

function replied(turn: PaidTurn, response: string | null, isReplay: boolean): Outcome {
  const { execution_id, session_id, transaction, network } = turn
  const payment = { settled: true as const, transaction, network, payer: payerName(turn.payer) }
  const reply = { status: 'success' as const, response, execution_id, session_id, payment }
  return { kind: 'replied', reply, isReplay }
}

type Taken = Awaited<ReturnType<ReturnType<typeof createRedeemProof>>>

/** What needs somebody who collects. */
function createCollecting(deps: PaidDeps & { payments: Payments }) {
  const keeping = createKeeping(deps.vault)
  const record = createPaymentLog(deps)
  const { claim, settle } = createSettle({ ...deps, keeping, record })
  const takeIn = createRedeemProof({ ...deps, keeping, record, claim })
  const awaitEnd = createAwaitEnd(deps)
  return {
    settle,

    /** A facilitator that is down has nothing to do with the message. */
    take: (asked: Asked) =>
      takeIn(asked).catch((error: unknown) => {
        if (!(error instanceof FacilitatorDown)) throw error
        throw new Fault('upstream_error', error.message, { payment: { settled: false } }, { cause: error })
      }),

    /** Waits until there is a reply to be paid for. */
    async claimOf(
      taken: Extract<Taken, { kind: 'run' | 'reply' }>,
      asked: Asked,
      signal: AbortSignal,
    ): Promise<Claimed> {
      if (taken.kind === 'reply') return taken.claimed
      await awaitEnd(taken.row, signal)
      const claimed = await claim(taken.turn, asked.proof.hash)
      // The payer has come back meanwhile, and is answered there.
      if (!claimed) throw new Fault('request_in_progress', undefined, { execution_id: taken.row.id })
      return claimed
    },
  }
}
