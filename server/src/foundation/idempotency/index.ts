import { createHash } from 'node:crypto'
import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { claimStore } from './store.ts'
import type { ClaimRow } from './tables.ts'

/**
 * The door of requests that carry an `Idempotency-Key`: the first goes in, the same key again gets the
 * first one's reply, and 409 while it is running. The claim is written in the transaction that accepts the
 * work, so there is none without the other. When the store cannot be read, requests go in unprotected: a
 * request done twice is better than none at all.
 */
export type Idempotency = {
  /**
   * Looks at the key; null for requests without one. Throws `request_in_progress` with the `execution_id`
   * or `fan_out_id` of the first attempt.
   */
  open(scope: Scope | null): Promise<Door>
  /**
   * The way for work that goes on after it was taken in: replays, or runs `accept`, which takes the claim in
   * its transaction; settling the claim is left to the caller. What `accept` throws leaves the key free.
   * Losing the race to another request with the key is answered like coming after it.
   */
  enter<T>(scope: Scope | null, accept: (claim: Claim) => Promise<T>): Promise<Entered<T>>
  /** The whole way for work that ends with one reply: replays, or runs `work` and stores what it answers. */
  once(scope: Scope | null, work: (claim: Claim) => Promise<Reply>): Promise<Reply & { replayed: boolean }>
  readonly loops: Loop[]
}

/** Made by `scopeOf`. */
export type Scope = string & { readonly scope: unique symbol }

export type Reply = {
  status: number
  body: unknown
  /** The work goes on after the reply: when it comes to nothing, the key starts anew. */
  receipt?: boolean
}

export type Door = { replay: Reply; claim: null } | { replay: null; claim: Claim }

export type Entered<T> =
  | { replay: Reply; claim: null; accepted: null }
  | { replay: null; claim: Claim; accepted: T }

export type Claim = {
  /**
   * Writes the claim in the transaction that accepts the work. Throws `ClaimTaken` when another request with
   * the key was faster: let it roll the transaction back, then `open` again.
   */
  take(tx: Tx, work?: { execution_id?: string; fan_out_id?: string }): Promise<void>
  /** What later requests with the key are answered. Does nothing while no claim is committed; never throws. */
  complete(reply: Reply): Promise<void>
  /** The key starts anew; after `complete` it does nothing. Never throws. */
  release(): Promise<void>
}

/** Another request with the same key was accepted meanwhile. */
export class ClaimTaken extends Error {
  constructor() {
    super('Another request with this idempotency key was accepted first.')
    this.name = 'ClaimTaken'
  }
}

/**
 * What has become of accepted work: still going on, come to nothing (failed, cancelled, skipped, gone), or
 * done, with the reply it would have had where that can still be told.
 */
export type WorkState = { state: 'open' | 'void' } | { state: 'done'; reply: Reply | null }

/** A key lives a day. */
const lifeSeconds = 24 * 3600
/** A claim without a work to ask after: if its process dies, this is how long its key answers 409. */
const unnamedSeconds = 600
const most = 3

export function createIdempotency(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** Asked only for claims that name their work. */
  workState(work: { execution_id: string | null; fan_out_id: string | null }): Promise<WorkState>
}): Idempotency {
  const { db, clock, log, workState } = deps
  const store = claimStore(db)
  const now = () => timestamp(clock.now())
  const until = (seconds: number) => timestamp(secondsLater(clock.now(), seconds))

  const open = async (scope: Scope | null): Promise<Door> => {
    if (scope === null) return { replay: null, claim: unprotected }
    let found: ClaimRow | undefined
    try {
      found = await store.find(scope, now())
    } catch (error) {
      log.warn({ err: error }, 'idempotency keys cannot be read: a request goes in unprotected')
      return { replay: null, claim: unprotected }
    }
    if (!found) return { replay: null, claim: newClaim(scope, null) }
    const { execution_id, fan_out_id } = found
    const named = execution_id !== null || fan_out_id !== null
    const replay = storedReply(found)
    if (replay && !(replay.receipt && named)) return { replay, claim: null }

    const work = named ? await workState({ execution_id, fan_out_id }) : { state: 'open' as const }
    if (work.state === 'void') return { replay: null, claim: newClaim(scope, found.claim_id) }
    if (replay) return { replay, claim: null }
    // Its process died between the end of the work and the storing of its reply.
    if (work.state === 'done' && work.reply) return { replay: work.reply, claim: null }
    throw new Fault('request_in_progress', undefined, {
      ...(execution_id === null ? {} : { execution_id }),
      ...(fan_out_id === null ? {} : { fan_out_id }),
    })
  }

  const newClaim = (scope: Scope, superseded: string | null): Claim => {
    const claim = { scope, claim_id: newId() }
    let isCommitted = false
    const quietly = async (act: () => Promise<void>) => {
      if (!isCommitted) return
      try {
        await act()
      } catch (error) {
        // The claim stays as it is: the next request asks after the work itself.
        log.warn({ err: error }, 'an idempotency key could not be settled')
      }
    }
    return {
      async take(tx, work = {}) {
        const { execution_id = null, fan_out_id = null } = work
        const named = execution_id !== null || fan_out_id !== null
        const row: ClaimRow = {
          ...claim,
          state: 'running',
          execution_id,
          fan_out_id,
          status: null,
          body: null,
          receipt: 0,
          expires_at: until(named ? lifeSeconds : unnamedSeconds),
        }
        if (!(await claimStore(tx).take(row, now(), superseded))) throw new ClaimTaken()
        tx.onCommitted(() => {
          isCommitted = true
        })
      },
      complete: ({ status, body, receipt = false }) =>
        quietly(() =>
          store.finish(claim, {
            status,
            body: JSON.stringify(body ?? null),
            receipt: receipt ? 1 : 0,
            expires_at: until(lifeSeconds),
          }),
        ),
      release: () => quietly(() => store.release(claim)),
    }
  }

  const enter: Idempotency['enter'] = async (scope, accept) => {
    for (let attempt = 1; ; attempt++) {
      const { replay, claim } = await open(scope)
      if (replay) return { replay, claim: null, accepted: null }
      try {
        return { replay: null, claim, accepted: await accept(claim) }
      } catch (error) {
        await claim.release()
        if (!(error instanceof ClaimTaken)) throw error
        if (attempt === most) throw new Fault('request_in_progress')
      }
    }
  }

  return {
    open,
    enter,
    async once(scope, work) {
      const { replay, claim, accepted } = await enter(scope, work)
      if (replay) return { ...replay, replayed: true }
      await claim.complete(accepted)
      return { ...accepted, replayed: false }
    },
    loops: [{ name: 'idempotency-expiry', everySeconds: 600, run: () => store.removeExpired(now()) }],
  }
}

/**
 * The scope of a key: a route family (`chat`, `task`, …), whom it is for (an agent's id, a webhook token, a
 * person), and the header's value. Null without a key. Neither key nor token can be read from it.
 */
export function scopeOf(family: string, subject: string, key: string | undefined): Scope | null {
  if (!key) return null
  const hash = createHash('sha256')
    .update(JSON.stringify([family, subject, key]))
    .digest('hex')
  return hash as Scope
}

const unprotected: Claim = { async take() {}, async complete() {}, async release() {} }

function storedReply(row: ClaimRow): Reply | null {
  if (row.state !== 'finished' || row.status === null) return null
  return { status: row.status, body: JSON.parse(row.body ?? 'null'), receipt: row.receipt === 1 }
}
