import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { FacilitatorDown, type Payments, type Settled } from '../../ports/payments/port.ts'
import type { PaymentLog } from './payment-log.ts'
import type { Keeping, Presented } from './presented.ts'
import { payerName } from './rules.ts'
import { type PaidTurn, turnStore } from './turn-store.ts'

export type SettleDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  payments: Pick<Payments, 'settle'>
  keeping: Keeping
  record: PaymentLog
}

/** `unpaid`: the facilitator refused, and the reply is kept. */
export type Settlement =
  | { kind: 'settled'; turn: PaidTurn }
  | { kind: 'unpaid'; reason: string; payer: string }

/** A turn whose money this process asks for. */
export type Claimed = { turn: PaidTurn; proofHash: string; wasUnanswered: boolean }

/** Whoever asks for the money says so this often; a process that is killed is followed after `busySeconds`. */
const beatMs = 3000
const busySeconds = 10
const keptSeconds = 24 * 3600

/**
 * Collects what a reply costs. What is about to happen is in the database before it does, so that a process which
 * dies on the way is followed by one that knows: money that was never asked for is asked for, and where an answer
 * got lost the same proof is shown again, which a facilitator collects once. If it is refused then, nobody can
 * tell whether the first attempt took the money: the payer gets the reply and is not asked for more.
 */
export function createSettle(deps: SettleDeps) {
  const { db, clock, log, payments, keeping, record } = deps
  const busyUntil = () => timestamp(secondsLater(clock.now(), busySeconds))

  /** From here on only this process asks for the money. Null: somebody else does, or has. */
  async function claim(turn: PaidTurn, proofHash: string, on: Db | Tx = db): Promise<Claimed | null> {
    // What is under way is gone on with, whichever proof the payer shows now.
    const wasUnanswered = turn.state === 'settling'
    const hash = wasUnanswered ? (turn.proof_hash ?? proofHash) : proofHash
    const at = { proofHash: hash, now: timestamp(clock.now()), until: busyUntil() }
    const isMine = await turnStore(on).beginSettling(turn, at)
    return isMine ? { turn, proofHash: hash, wasUnanswered } : null
  }

  async function withBeats<T>(executionId: string, work: () => Promise<T>): Promise<T> {
    const done = new AbortController()
    const beat = async () => {
      for (;;) {
        await clock.wait(beatMs, done.signal)
        if (done.signal.aborted) return
        await turnStore(db).stillSettling(executionId, busyUntil())
      }
    }
    // Without its signs of life another process may ask as well: then too it is collected once.
    const beats = beat().catch((error: unknown) =>
      log.warn({ err: error }, 'a payment shows no sign of life'),
    )
    try {
      return await work()
    } finally {
      done.abort()
      await beats
    }
  }

  /** Throws `upstream_error`; the same proof and message may be tried again. */
  async function settle({ turn, proofHash, wasUnanswered }: Claimed): Promise<Settlement> {
    const { execution_id } = turn
    const sealed = await turnStore(db).sealedProof(proofHash)
    if (sealed === null) throw new Error(`The proof that pays for run ${execution_id} is gone.`)
    const presented = keeping.open(proofHash, sealed)
    const answer = await withBeats(execution_id, () => payments.settle(presented)).catch(
      (error: unknown) => error,
    )
    if (isSettled(answer)) {
      if (answer.ok) return settled(turn, presented, answer)
      return wasUnanswered
        ? unconfirmed(turn, presented, answer.reason)
        : refused(turn, presented, proofHash, answer)
    }
    const isUnknown = wasUnanswered || !(answer instanceof FacilitatorDown) || answer.mayHaveActed
    const what = { agentId: turn.agent_id, terms: presented.terms }
    await db.atomically(async (tx) => {
      await turnStore(tx).leave(execution_id, isUnknown ? 'settling' : 'running')
      const error = isUnknown
        ? 'no answer; asked again when the payer comes back'
        : 'not collected; the facilitator failed'
      await record(tx, what, { action: 'settle_failed', execution_id, payer: payerName(turn.payer), error })
    })
    if (!(answer instanceof FacilitatorDown)) throw answer
    throw new Fault(
      'upstream_error',
      answer.message,
      { execution_id, payment: { settled: false } },
      { cause: answer },
    )
  }

  async function settled(
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
        await turnStore(tx).settled(execution_id, paid)
        const happened = { action: 'settle' as const, execution_id, payer: payerName(payer), transaction }
        await record(tx, { agentId: agent_id, terms }, happened)
      })
    // It is paid: the payer gets the reply whatever the database does. Found settling later, the facilitator is
    // asked again, and what it says then is the payer's reply too.
    await write().catch((error: unknown) =>
      log.warn({ err: error, execution_id }, 'a settled payment could not be written down'),
    )
    return { kind: 'settled', turn: { ...turn, ...paid, state: 'settled' } }
  }

  async function unconfirmed(turn: PaidTurn, { terms }: Presented, reason: string): Promise<Settlement> {
    const { execution_id, agent_id, payer } = turn
    const paid = { transaction: null, network: terms.network, payer }
    const error = `${reason}, after an attempt without an answer: it may have been paid, the reply was given`
    await db.atomically(async (tx) => {
      await turnStore(tx).settled(execution_id, paid)
      const happened = { action: 'settle_failed' as const, execution_id, payer: payerName(payer), error }
      await record(tx, { agentId: agent_id, terms }, happened)
    })
    return { kind: 'settled', turn: { ...turn, ...paid, state: 'settled' } }
  }

  async function refused(
    turn: PaidTurn,
    { terms }: Presented,
    proofHash: string,
    answer: Settled & { ok: false },
  ): Promise<Settlement> {
    const { execution_id, agent_id, payer } = turn
    await db.atomically(async (tx) => {
      await turnStore(tx).refused(execution_id, proofHash, timestamp(secondsLater(clock.now(), keptSeconds)))
      const happened = {
        action: 'settle_failed' as const,
        execution_id,
        payer: payerName(payer),
        error: answer.reason,
      }
      await record(tx, { agentId: agent_id, terms }, happened)
    })
    return { kind: 'unpaid', reason: answer.reason, payer: answer.payer ?? payer }
  }

  return { claim, settle }
}

export type Settle = ReturnType<typeof createSettle>

function isSettled(answer: unknown): answer is Settled {
  return typeof answer === 'object' && answer !== null && 'ok' in answer
}
