import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { FacilitatorDown, type Payments, type Settled } from '../../ports/payments/port.ts'
import type { PaymentLog } from './payment-log.ts'
import type { Presented, ProofVault } from './presented.ts'
import { payerName } from './rules.ts'
import { type PaidTurn, turnStore } from './turn-store.ts'

export type SettleDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  payments: Pick<Payments, 'settle'>
  proofVault: ProofVault
  record: PaymentLog
}

/** `unpaid`: the facilitator refused, and the reply is kept. */
export type Settlement =
  | { kind: 'settled'; turn: PaidTurn }
  | { kind: 'unpaid'; reason: string; payer: string }

/** A turn whose settlement this process has claimed. */
export type Claimed = { turn: PaidTurn; proofHash: string; wasUnanswered: boolean }

/** The claim is renewed at this interval; after a crash it expires `busySeconds` after the last renewal. */
const renewalMs = 3000
const busySeconds = 10
const unpaidReplySeconds = 24 * 3600

/**
 * Collects the price of a reply. Each step is stored before it happens, so a later process can continue. After a lost
 * response the same proof is sent again; a facilitator collects it once. A refusal then is ambiguous: the payer gets
 * the reply and is not charged again.
 */
export function createSettle(deps: SettleDeps) {
  const { db, clock, log, payments, proofVault, record } = deps
  const busyUntil = () => timestamp(secondsLater(clock.now(), busySeconds))

  /** Claims the settlement for this process. Null when another request holds it or has finished. */
  async function claim(turn: PaidTurn, proofHash: string, on: Db | Tx = db): Promise<Claimed | null> {
    // A settlement that may have succeeded is retried with its own proof, not with the new one.
    const wasUnanswered = turn.state === 'settling'
    const hash = wasUnanswered ? (turn.proof_hash ?? proofHash) : proofHash
    const at = { proofHash: hash, now: timestamp(clock.now()), until: busyUntil() }
    const isClaimed = await turnStore(on).beginSettling(turn, at)
    return isClaimed ? { turn, proofHash: hash, wasUnanswered } : null
  }

  async function withRenewal<T>(executionId: string, work: () => Promise<T>): Promise<T> {
    const done = new AbortController()
    const renew = async () => {
      for (;;) {
        await clock.wait(renewalMs, done.signal)
        if (done.signal.aborted) return
        await turnStore(db).extendSettling(executionId, busyUntil())
      }
    }
    // Without renewal another process may settle too; the facilitator still collects once.
    const renewal = renew().catch((error: unknown) =>
      log.warn({ err: error }, 'a payment shows no sign of life'),
    )
    try {
      return await work()
    } finally {
      done.abort()
      await renewal
    }
  }

  /** Throws `upstream_error`; the same proof and message may be sent again. */
  async function settle({ turn, proofHash, wasUnanswered }: Claimed): Promise<Settlement> {
    const { execution_id } = turn
    const sealed = await turnStore(db).sealedProof(proofHash)
    if (sealed === null) throw new Error(`The proof that pays for run ${execution_id} is gone.`)
    const presented = proofVault.open(proofHash, sealed)
    const answer = await withRenewal(execution_id, () => payments.settle(presented)).catch(
      (error: unknown) => error,
    )
    if (isSettled(answer)) {
      if (answer.ok) return recordSettled(turn, presented, answer)
      return wasUnanswered
        ? recordUnconfirmed(turn, presented, answer.reason)
        : recordRefused(turn, presented, proofHash, answer)
    }
    const isUnknown = wasUnanswered || !(answer instanceof FacilitatorDown) || answer.mayHaveActed
    const payment = { agentId: turn.agent_id, terms: presented.terms }
    await db.atomically(async (tx) => {
      await turnStore(tx).unclaim(execution_id, isUnknown ? 'settling' : 'running')
      const error = isUnknown
        ? 'no answer; asked again when the payer comes back'
        : 'not collected; the facilitator failed'
      await record(tx, payment, {
        action: 'settle_failed',
        execution_id,
        payer: payerName(turn.payer),
        error,
      })
    })
    if (!(answer instanceof FacilitatorDown)) throw answer
    throw new Fault(
      'upstream_error',
      answer.message,
      { execution_id, payment: { settled: false } },
      { cause: answer },
    )
  }

  async function recordSettled(
    turn: PaidTurn,
    { terms }: Presented,
    answer: Settled & { ok: true },
  ): Promise<Settlement> {
    const { execution_id, agent_id } = turn
    const { transaction } = answer
    const payer = answer.payer ?? turn.payer
    const paid = { transaction, network: terms.network, payer }
    const write = () =>
      db.atomically(async (tx) => {
        await turnStore(tx).markSettled(execution_id, paid)
        const entry = { action: 'settle' as const, execution_id, payer: payerName(payer), transaction }
        await record(tx, { agentId: agent_id, terms }, entry)
      })
    // The money is collected, so the payer gets the reply even if this write fails. A turn found in `settling` later is
    // sent to the facilitator again.
    await write().catch((error: unknown) =>
      log.warn({ err: error, execution_id }, 'a settled payment could not be written down'),
    )
    return { kind: 'settled', turn: { ...turn, ...paid, state: 'settled' } }
  }

  async function recordUnconfirmed(
    turn: PaidTurn,
    { terms }: Presented,
    reason: string,
  ): Promise<Settlement> {
    const { execution_id, agent_id, payer } = turn
    const paid = { transaction: null, network: terms.network, payer }
    const error = `${reason}, after an attempt without an answer: it may have been paid, the reply was given`
    await db.atomically(async (tx) => {
      await turnStore(tx).markSettled(execution_id, paid)
      const entry = { action: 'settle_failed' as const, execution_id, payer: payerName(payer), error }
      await record(tx, { agentId: agent_id, terms }, entry)
    })
    return { kind: 'settled', turn: { ...turn, ...paid, state: 'settled' } }
  }

  async function recordRefused(
    turn: PaidTurn,
    { terms }: Presented,
    proofHash: string,
    answer: Settled & { ok: false },
  ): Promise<Settlement> {
    const { execution_id, agent_id, payer } = turn
    await db.atomically(async (tx) => {
      await turnStore(tx).markRefused(
        execution_id,
        proofHash,
        timestamp(secondsLater(clock.now(), unpaidReplySeconds)),
      )
      const entry = {
        action: 'settle_failed' as const,
        execution_id,
        payer: payerName(payer),
        error: answer.reason,
      }
      await record(tx, { agentId: agent_id, terms }, entry)
    })
    return { kind: 'unpaid', reason: answer.reason, payer: answer.payer ?? payer }
  }

  return { claim, settle }
}

export type Settle = ReturnType<typeof createSettle>

function isSettled(answer: unknown): answer is Settled {
  return typeof answer === 'object' && answer !== null && 'ok' in answer
}
