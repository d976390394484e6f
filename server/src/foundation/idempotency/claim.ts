import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Scope } from './scope.ts'
import { type ClaimRow, type ClaimStore, claimStore } from './store.ts'

export type Reply = {
  status: number
  body: unknown
  /** The work continues after the reply. If it fails, the key is free again. */
  receipt?: boolean
  /** Of a replay: id of the created resource. If that was deleted, throw `createdResourceGone`. */
  resourceId?: string
}

/** Runs that the request started, or the resource that it created. */
export type ClaimedWork = { execution_id?: string; fan_out_id?: string; resource_id?: string }

export type Claim = {
  /**
   * Writes the claim in the transaction that accepts the work; `reply` is replayed from the commit on.
   * Throws `ClaimTaken` when another request with the key was first: let it roll the transaction back.
   */
  take(tx: Tx, work?: ClaimedWork, reply?: Reply): Promise<void>
  /** Stores the reply for later requests with the key. Does nothing before the claim is committed. Never throws. */
  complete(reply: Reply): Promise<void>
  /** Frees the key. Does nothing after `complete`. Never throws. */
  release(): Promise<void>
}

/** Fault of a repeated create whose resource was deleted. */
export function createdResourceGone(what: string): Fault {
  return new Fault('created_resource_gone', `${what} Send a new Idempotency-Key to create another one.`)
}

export class ClaimTaken extends Error {
  constructor() {
    super('Another request with this idempotency key was accepted first.')
    this.name = 'ClaimTaken'
  }
}

/** For requests without a key, and while the store fails. */
export const unprotected: Claim = { async take() {}, async complete() {}, async release() {} }

const keySeconds = 24 * 3600
/** Lifetime of a claim that names no work: after a crash its key answers 409 for this long. */
const unnamedWorkSeconds = 600

export type ClaimDeps = {
  store: ClaimStore
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** Called when the claim could not be written, except when it was taken. */
  onStoreFault(error: unknown): void
}

/** A claim that is not stored yet. It replaces `superseded`, whose work failed. */
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
      // The claim stays as it is; the next request reads the state of the work.
      log.warn({ err: error }, 'an idempotency key could not be settled')
    }
  }

  return {
    async take(tx, work = {}, reply) {
      const { execution_id = null, fan_out_id = null, resource_id = null } = work
      const isNamed = execution_id !== null || fan_out_id !== null
      const row: ClaimRow = {
        ...claim,
        body_digest: scope.bodyDigest,
        execution_id,
        fan_out_id,
        resource_id,
        ...(reply ? finished(reply) : unfinished),
        expires_at: until(isNamed || reply ? keySeconds : unnamedWorkSeconds),
      }
      const isOwn = await claimStore(tx)
        .take(row, timestamp(clock.now()), superseded)
        .catch((error: unknown) => {
          onStoreFault(error)
          throw error
        })
      if (!isOwn) throw new ClaimTaken()
      tx.onCommitted(() => {
        isCommitted = true
      })
    },
    complete: (reply) =>
      quietly(() => store.finish(claim, { ...finished(reply), expires_at: until(keySeconds) })),
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
