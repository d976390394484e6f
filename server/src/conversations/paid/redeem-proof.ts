import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { isSameSecret } from '../../kit/same-secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Payments } from '../../ports/payments/port.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import { type ExecutionRow, executionStore, isFinal } from '../../runs/executions/index.ts'
import {
  blankSession,
  chatStore,
  createTakeOneTurn,
  type OneTurnDeps,
  type SessionRow,
  strangerPrompt,
  titleOf,
} from '../chat/index.ts'
import { notOffered, type Sought } from './offers.ts'
import type { PaymentLog } from './payment-log.ts'
import { type Keeping, type Presented, presentedOf } from './presented.ts'
import { differenceOf, type Offer, type Proof, payerName, requestHash } from './rules.ts'
import type { Claimed, Settle } from './settle.ts'
import { type PaidTurn, turnStore } from './turn-store.ts'

export type RedeemProofDeps = Omit<OneTurnDeps, 'dispatch'> & {
  db: Db
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  payments: Pick<Payments, 'verify'>
  keeping: Keeping
  record: PaymentLog
  claim: Settle['claim']
}

export type Asked = Sought & { proof: Proof; message: string; sessionId: string | null }
/** To an agent that is offered now. */
type AskedOffered = Asked & { offer: Offer }

/** What a proof leads to. */
export type Redeemed =
  | { kind: 'run'; row: ExecutionRow; turn: PaidTurn }
  /** A reply is there and not paid yet. */
  | { kind: 'reply'; claimed: Claimed }
  | { kind: 'paid'; turn: PaidTurn }
  | { kind: 'failed'; reason: string }

/** So many requests with one proof may be faster, one after another. */
const most = 4
/** Longer than a run may wait in line and then take. */
const runSeconds = 48 * 3600
/** For so long the same proof and message are answered again. */
const replaySeconds = 24 * 3600

/** Another request with the same proof was faster. */
class ProofTaken extends Error {}

/**
 * Finds what a proof is good for: the run that it is bound to, a reply that its payer has not paid yet, or a run
 * of its own. The row of the proof decides which of two requests starts it.
 */
export function createRedeemProof(deps: RedeemProofDeps) {
  const { db, clock, dispatch, payments, keeping, record, claim } = deps
  const turns = turnStore(db)
  const takeOneTurn = createTakeOneTurn(deps)

  /** What the run of a proof says to its next use; null: it came to nothing, and the proof is free. */
  async function bound(turn: PaidTurn, asked: Asked): Promise<Redeemed | null> {
    const isSame = isSameSecret(turn.request_hash, requestHash(asked.agent.id, asked))
    const since = timestamp(secondsLater(clock.now(), -replaySeconds))
    if (turn.state === 'settled') {
      return isSame && turn.created_at > since ? { kind: 'paid', turn } : { kind: 'failed', reason: usedUp }
    }
    const run = await executionStore(db).byId(turn.execution_id)
    if (run && !isFinal(run.status)) throw inProgress(turn)
    if (run?.status !== 'success') {
      await turns.release(turn.execution_id)
      return null
    }
    if (!isSame) return { kind: 'failed', reason: usedUp }
    return { kind: 'reply', claimed: await claimed(turn, asked.proof.hash) }
  }

  async function claimed(turn: PaidTurn, proofHash: string): Promise<Claimed> {
    const mine = await claim(turn, proofHash)
    if (!mine) throw inProgress(turn)
    return mine
  }

  /** A reply to the same message that this payer has not paid for; nobody else asks for its money now. */
  async function kept(asked: Asked, payer: string, presented: Presented): Promise<Claimed | null> {
    const { agent } = asked
    const of = { agent_id: agent.id, payer, request_hash: requestHash(agent.id, asked) }
    for (const turn of await turns.unpaidOf(of, timestamp(clock.now()))) {
      const run = await executionStore(db).byId(turn.execution_id)
      if (run?.status !== 'success') continue
      // Money that may have been collected already is not asked for a second time: this proof stays unused.
      const mine =
        turn.state === 'settling'
          ? await claim(turn, asked.proof.hash)
          : await db.atomically((tx) => bindAndClaim(tx, turn, asked.proof.hash, presented))
      // Whoever was faster pays for it. A run beside it would take the payer's money for the same message twice.
      if (!mine) throw inProgress(turn)
      return mine
    }
    return null
  }

  async function bindAndClaim(tx: Tx, turn: PaidTurn, proof_hash: string, presented: Presented) {
    const mine = await claim(turn, proof_hash, tx)
    if (!mine) return null
    await bind(tx, turn.execution_id, proof_hash, presented)
    const { terms } = presented
    const { execution_id, agent_id, payer } = turn
    await record(
      tx,
      { agentId: agent_id, terms },
      { action: 'verify', execution_id, payer: payerName(payer) },
    )
    return mine
  }

  /** Throws `ProofTaken`. */
  async function bind(tx: Tx, execution_id: string, proof_hash: string, presented: Presented) {
    const sealed = keeping.seal(proof_hash, presented)
    if (!(await turnStore(tx).bind({ proof_hash, execution_id, sealed }))) throw new ProofTaken()
  }

  async function begin(asked: AskedOffered, payer: string, presented: Presented): Promise<Redeemed> {
    const { offer, message, proof } = asked
    const fact = await dispatch.checkAgent(offer.agent.id)
    return dispatch.transaction(async (tx) => {
      const session = await sessionOf(tx, asked, payer)
      const { row } = await takeOneTurn(tx, fact, session, {
        triggeredBy: 'paid',
        message,
        source: { userId: null, userEmail: null, agent: null, key: null },
        systemPrompt: strangerPrompt('somebody who pays for each message'),
        model: null,
        files: [],
        title: session.title === null ? titleOf(message) : null,
      })
      const turn: PaidTurn = {
        execution_id: row.id,
        agent_id: offer.agent.id,
        request_hash: requestHash(offer.agent.id, asked),
        payer,
        session_id: session.id,
        state: 'running',
        proof_hash: null,
        busy_until: null,
        network: offer.network,
        transaction: null,
        created_at: timestamp(clock.now()),
        expires_at: timestamp(secondsLater(clock.now(), runSeconds)),
      }
      await turnStore(tx).insert(turn)
      await bind(tx, row.id, proof.hash, presented)
      const happened = { action: 'verify' as const, execution_id: row.id, payer: payerName(payer) }
      await record(tx, { agentId: offer.agent.id, terms: presented.terms }, happened)
      return { kind: 'run', row, turn }
    })
  }

  /** Throws `session_not_found` for conversations of other payers. */
  async function sessionOf(tx: Tx, { agent, sessionId }: Asked, payer: string): Promise<SessionRow> {
    const holder_id = `payer:${payer}`
    const store = chatStore(tx)
    if (sessionId !== null) {
      const session = await store.session(sessionId)
      if (session?.agent_id !== agent.id || session.holder_id !== holder_id)
        throw new Fault('session_not_found')
      return session
    }
    const fresh: SessionRow = {
      id: newId(),
      agent_id: agent.id,
      holder_id,
      // Nobody with an account; nobody is told of answers.
      user_id: '',
      user_email: null,
      title: null,
      kind: 'public',
      current_key: null,
      started_at: timestamp(clock.now()),
      ...blankSession,
    }
    await store.insertSession(fresh)
    return fresh
  }

  /**
   * Throws `request_in_progress`, `upstream_error`, `session_not_found`, `not_found` for what was not paid for while
   * the agent was offered, and what taking a run in throws; nothing is collected then.
   */
  return async function take(asked: Asked): Promise<Redeemed> {
    const { agent, offer, proof } = asked
    let payer: string | null = null
    for (let attempt = 1; attempt <= most; attempt += 1) {
      const turn = await turns.byProof(proof.hash)
      // An offer that has ended is kept to who paid on it, and is none to everybody else.
      if (!offer && turn?.agent_id !== agent.id) throw notOffered()
      const found = turn && (await bound(turn, asked))
      if (found) return found
      if (!offer) throw notOffered()
      const difference = differenceOf(proof, offer)
      if (difference !== null) return { kind: 'failed', reason: difference }
      const presented = presentedOf(proof, offer)
      if (payer === null) {
        const verified = await payments.verify(presented)
        const who = verified.payer ?? proof.signed?.from ?? null
        if (!verified.ok) {
          const what = { agentId: offer.agent.id, terms: presented.terms }
          await record(db, what, { action: 'reject', payer: who, error: verified.reason })
          return { kind: 'failed', reason: verified.reason }
        }
        payer = who?.toLowerCase() ?? `proof:${proof.hash}`
      }
      try {
        const reply = await kept(asked, payer, presented)
        return reply ? { kind: 'reply', claimed: reply } : await begin({ ...asked, offer }, payer, presented)
      } catch (error) {
        if (!(error instanceof ProofTaken)) throw error
      }
    }
    throw new Fault('request_in_progress')
  }
}

const usedUp = 'payment_used_for_another_message'

function inProgress({ execution_id }: PaidTurn): Fault {
  return new Fault('request_in_progress', undefined, { execution_id })
}
