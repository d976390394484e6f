import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Scope } from './scope.ts'
import { type ClaimStore, claimStore } from './store.ts'
import type { ClaimRow } from './tables.ts'

export type Reply = {
  status: number
  body: unknown
  /** The work goes on after the reply: when it comes to nothing, the key starts anew. */
  receipt?: boolean
  /** Of a replay: id of what the request created. It may be gone by now; `createdResourceGone` is the fault for that. */
  resourceId?: string
}

/** Runs that the request started, or the id of the resource that it created. */
export type ClaimedWork = { execution_id?: string; fan_out_id?: string; resource_id?: string }

export type Claim = {
  /**
   * Writes the claim in the transaction that accepts the work; with `reply` it is answered from then on.
   * Throws `ClaimTaken` when another request with the key was faster: let it roll the transaction back.
   */
  take(tx: Tx, work?: ClaimedWork, reply?: Reply): Promise<void>
  /** What later requests with the key are answered. Does nothing while no claim is committed; never throws. */
  complete(reply: Reply): Promise<void>
  /** The key starts anew; after `complete` it does nothing. Never throws. */
  release(): Promise<void>
}

/** A repeated create must not answer with something that does not exist any more. */
export function createdResourceGone(what: string): Fault {
  return new Fault('created_resource_gone', `${what} Send a new Idempotency-Key to create another one.`)
}

/** Another request with the same key was accepted meanwhile. */
export class ClaimTaken extends Error {
  constructor() {
    super('Another request with this idempotency key was accepted first.')
    this.name = 'ClaimTaken'
  }
}

/** Of requests without a key, and of those that go in although the store fails. */
export const unprotected: Claim = { async take() {}, async complete() {}, async release() {} }

/** A key lives a day. */
const lifeSeconds = 24 * 3600
/** A claim without a work to ask after: if its process dies, this is how long its key answers 409. */
const unnamedSeconds = 600

export type ClaimDeps = {
  store: ClaimStore
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** The claim could not be written, for another reason than that it is taken. */
  onStoreFault(error: unknown): void
}

/** A claim that is not written yet; it takes the place of `superseded`, whose work came to nothing. */
export function newClaim(deps: ClaimDeps, scope: Scope, superseded: string | null): Claim {
  const { store, clock, log, onStoreFault } = deps
  const claim = { scope: scope.hash, claim_id: newId() }
  const until = (seconds: number) => timestamp(secondsLater(clock.now(), seconds))
  let isCommitted = false

  async function quietly(act: () => Promise<void>): Promise<void> {
    if (!isCommitted) return
    try {
      await act()
    } catch (error) {
      // The claim stays as it is: the next request asks after the work itself.
      log.warn({ err: error }, 'an idempotency key could not be settled')
    }
  }

  return {
    async take(tx, work = {}, reply) {
      const { execution_id = null, fan_out_id = null, resource_id = null } = work
      const named = execution_id !== null || fan_out_id !== null
      const row: ClaimRow = {
        ...claim,
        body_digest: scope.bodyDigest,
        execution_id,
        fan_out_id,
        resource_id,
        ...(reply ? finished(reply) : unfinished),
        expires_at: until(named || reply ? lifeSeconds : unnamedSeconds),
      }
      const isMine = await claimStore(tx)
        .take(row, timestamp(clock.now()), superseded)
        .catch((error: unknown) => {
          onStoreFault(error)
          throw error
        })
      if (!isMine) throw new ClaimTaken()
      tx.onCommitted(() => {
        isCommitted = true
      })
    },
    complete: (reply) =>
      quietly(() => store.finish(claim, { ...finished(reply), expires_at: until(lifeSeconds) })),
    release: () => quietly(() => store.release(claim)),
  }
}

const unfinished = { state: 'running' as const, status: null, body: null, receipt: 0 }

function finished({ status, body, receipt = false }: Reply) {
  return {
    state: 'finished' as const,
    status,
    body: JSON.stringify(body ?? null),
    receipt: receipt ? 1 : 0,
  }
}
