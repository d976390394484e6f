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
  createAcceptSerialTurn,
  type SerialTurnDeps,
  type SessionRow,
  strangerPrompt,
  titleOf,
} from '../chat/index.ts'
import { type OfferLookup, offerNotFound } from './offers.ts'
import type { PaymentLog } from './payment-log.ts'
import { type Presented, type ProofVault, presentedOf } from './presented.ts'
import { differenceOf, type Offer, type Proof, payerName, requestHash, signatureOf } from './rules.ts'
import type { Claimed, Settle } from './settle.ts'
import { type BoundTurn, type PaidTurn, turnStore } from './turn-store.ts'

export type RedeemProofDeps = Omit<SerialTurnDeps, 'dispatch'> & {
  db: Db
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  payments: Pick<Payments, 'verify'>
  proofVault: ProofVault
  record: PaymentLog
  claim: Settle['claim']
}

export type PaidRequest = OfferLookup & { proof: Proof; message: string; sessionId: string | null }
/** A request to an agent with an enabled offer. */
type OfferedRequest = PaidRequest & { offer: Offer }

/** The result of a proof. */
export type Redeemed =
  | { kind: 'run'; row: ExecutionRow; turn: PaidTurn }
  /** A reply exists and is not paid yet. */
  | { kind: 'reply'; claimed: Claimed }
  | { kind: 'paid'; turn: PaidTurn }
  | { kind: 'failed'; reason: string }

/** Attempts before giving up when concurrent requests win the proof. */
const maxAttempts = 4
/** Upper bound of a run's time in the queue plus its run time. */
const runSeconds = 48 * 3600
/** How long the same proof and message return the stored reply. */
export const replaySeconds = 24 * 3600

/** A concurrent request claimed the same proof. */
class ProofTaken extends Error {}

/**
 * Finds what a proof pays for: its own run, an unpaid reply of its payer, or a new run. Inserting the proof's row
 * decides which of two concurrent requests starts the run.
 */
export function createRedeemProof(deps: RedeemProofDeps) {
  const { db, clock, dispatch, payments, proofVault, record, claim } = deps
  const turns = turnStore(db)
  const acceptSerialTurn = createAcceptSerialTurn(deps)

  /**
   * Null when a bound proof gets its reply. The chain shows signer and nonce of a settled payment to everybody, so the
   * signature must match too. It is compared first: the reason must not confirm a guessed message.
   */
  function refusalOf({ request_hash, sealed }: BoundTurn, request: PaidRequest): string | null {
    const { agent, proof } = request
    // Null: settled by 0.1.0, which stored no proof after the payment. Later versions keep it for `replaySeconds`.
    const accepted = sealed && proofVault.open(proof.hash, sealed).proof
    if (accepted && !isSameSecret(signatureOf(accepted), signatureOf(proof.wire))) return proofUsed
    return isSameSecret(request_hash, requestHash(agent.id, request)) ? null : proofUsedForAnotherMessage
  }

  /** Resolves a proof that is bound to a run. Null when the run failed and the proof is free again. */
  async function resolveBound(turn: BoundTurn, request: PaidRequest): Promise<Redeemed | null> {
    if (turn.state === 'settled') {
      const since = timestamp(secondsLater(clock.now(), -replaySeconds))
      const reason = turn.created_at > since ? refusalOf(turn, request) : proofUsed
      return reason === null ? { kind: 'paid', turn } : { kind: 'failed', reason }
    }
    const run = await executionStore(db).byId(turn.execution_id)
    if (run && !isFinal(run.status)) throw requestInProgress(turn)
    if (run?.status !== 'success') {
      await turns.release(turn.execution_id)
      return null
    }
    const reason = refusalOf(turn, request)
    if (reason !== null) return { kind: 'failed', reason }
    return { kind: 'reply', claimed: await claimed(turn, request.proof.hash) }
  }

  async function claimed(turn: PaidTurn, proofHash: string): Promise<Claimed> {
    const settlement = await claim(turn, proofHash)
    if (!settlement) throw requestInProgress(turn)
    return settlement
  }

  /** Finds an unpaid reply to the same message of this payer, and claims its settlement. */
  async function claimUnpaidReply(
    request: PaidRequest,
    payer: string,
    presented: Presented,
  ): Promise<Claimed | null> {
    const { agent } = request
    const filter = { agent_id: agent.id, payer, request_hash: requestHash(agent.id, request) }
    for (const turn of await turns.unpaidOf(filter, timestamp(clock.now()))) {
      const run = await executionStore(db).byId(turn.execution_id)
      if (run?.status !== 'success') continue
      // If the first settlement may have succeeded, the new proof is not charged and stays unused.
      const settlement =
        turn.state === 'settling'
          ? await claim(turn, request.proof.hash)
          : await db.atomically((tx) => bindAndClaim(tx, turn, request.proof.hash, presented))
      // A concurrent request settles it. A second run would charge the payer twice for one message.
      if (!settlement) throw requestInProgress(turn)
      return settlement
    }
    return null
  }

  async function bindAndClaim(tx: Tx, turn: PaidTurn, proof_hash: string, presented: Presented) {
    const settlement = await claim(turn, proof_hash, tx)
    if (!settlement) return null
    await bind(tx, turn.execution_id, proof_hash, presented)
    const { terms } = presented
    const { execution_id, agent_id, payer } = turn
    await record(
      tx,
      { agentId: agent_id, terms },
      { action: 'verify', execution_id, payer: payerName(payer) },
    )
    return settlement
  }

  /** Throws `ProofTaken`. */
  async function bind(tx: Tx, execution_id: string, proof_hash: string, presented: Presented) {
    const sealed = proofVault.seal(proof_hash, presented)
    if (!(await turnStore(tx).bind({ proof_hash, execution_id, sealed }))) throw new ProofTaken()
  }

  async function startRun(request: OfferedRequest, payer: string, presented: Presented): Promise<Redeemed> {
    const { offer, message, proof } = request
    const agentContext = await dispatch.checkAgent(offer.agent.id)
    return dispatch.transaction(async (tx) => {
      const session = await sessionOf(tx, request, payer)
      const { row } = await acceptSerialTurn(tx, agentContext, session, {
        triggeredBy: 'paid',
        message,
        source: { principal: session.holder_id, userId: null, userEmail: null, agent: null, key: null },
        systemPrompt: strangerPrompt('somebody who pays for each message'),
        model: null,
        files: [],
        title: session.title === null ? titleOf(message) : null,
      })
      const turn: PaidTurn = {
        execution_id: row.id,
        agent_id: offer.agent.id,
        request_hash: requestHash(offer.agent.id, request),
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
      const entry = { action: 'verify' as const, execution_id: row.id, payer: payerName(payer) }
      await record(tx, { agentId: offer.agent.id, terms: presented.terms }, entry)
      return { kind: 'run', row, turn }
    })
  }

  /** Throws `session_not_found` for conversations of other payers. */
  async function sessionOf(tx: Tx, { agent, sessionId }: PaidRequest, payer: string): Promise<SessionRow> {
    const holder_id = `payer:${payer}`
    const store = chatStore(tx)
    if (sessionId !== null) {
      const session = await store.session(sessionId)
      if (session?.agent_id !== agent.id || session.holder_id !== holder_id)
        throw new Fault('session_not_found')
      return session
    }
    const created: SessionRow = {
      id: newId(),
      agent_id: agent.id,
      holder_id,
      // A payer has no account, so nobody is notified of replies.
      user_id: '',
      user_email: null,
      title: null,
      kind: 'public',
      current_key: null,
      started_at: timestamp(clock.now()),
      ...blankSession,
    }
    await store.insertSession(created)
    return created
  }

  /**
   * Throws `request_in_progress`, `upstream_error`, `session_not_found`, the faults of accepting a run, and `not_found`
   * for a proof that was not used while the offer was enabled. Nothing is collected then.
   */
  return async function redeemProof(request: PaidRequest): Promise<Redeemed> {
    const { agent, offer, proof } = request
    let payer: string | null = null
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const turn = await turns.byProof(proof.hash)
      // After an offer ends, only payers with a bound proof still get their reply.
      if (!offer && turn?.agent_id !== agent.id) throw offerNotFound()
      const resolved = turn && (await resolveBound(turn, request))
      if (resolved) return resolved
      if (!offer) throw offerNotFound()
      const difference = differenceOf(proof, offer)
      if (difference !== null) return { kind: 'failed', reason: difference }
      const presented = presentedOf(proof, offer)
      if (payer === null) {
        const verified = await payments.verify(presented)
        const signer = verified.payer ?? proof.signed?.from ?? null
        if (!verified.ok) {
          const payment = { agentId: offer.agent.id, terms: presented.terms }
          await record(db, payment, { action: 'reject', payer: signer, error: verified.reason })
          return { kind: 'failed', reason: verified.reason }
        }
        payer = signer?.toLowerCase() ?? `proof:${proof.hash}`
      }
      try {
        const reply = await claimUnpaidReply(request, payer, presented)
        return reply
          ? { kind: 'reply', claimed: reply }
          : await startRun({ ...request, offer }, payer, presented)
      } catch (error) {
        if (!(error instanceof ProofTaken)) throw error
      }
    }
    throw new Fault('request_in_progress')
  }
}

const proofUsed = 'payment_already_used'
const proofUsedForAnotherMessage = 'payment_used_for_another_message'

function requestInProgress({ execution_id }: PaidTurn): Fault {
  return new Fault('request_in_progress', undefined, { execution_id })
}
