import type { Loop } from '../../background/loops.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { DatabaseDown, DatabaseFull, type Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Claim, ClaimTaken, newClaim, type Reply, unprotected } from './claim.ts'
import type { Scope } from './scope.ts'
import { claimStore } from './store.ts'
import type { ClaimRow } from './tables.ts'
import type { Work, WorkState } from './work.ts'

export { type Claim, ClaimTaken, createdResourceGone, type Reply, unprotected } from './claim.ts'
export { type Scope, scopeOf } from './scope.ts'
export { createWorkStates, type Work, type WorkState, type WorkStateOf, type WorkStates } from './work.ts'

/**
 * The door of requests that carry an `Idempotency-Key`: the first goes in, the same key again gets the
 * first one's reply, and 409 while it is running. The claim is written in the transaction that accepts the
 * work, so there is none without the other. When the store fails, requests go in unprotected: a request
 * done twice is better than none at all.
 */
export type Idempotency = {
  /**
   * Looks at the key; null for requests without one. Throws `request_in_progress` with the `execution_id`
   * or `fan_out_id` of the first attempt.
   */
  open(scope: Scope | null): Promise<Door>
  /**
   * Goes in by the door: `accept` takes the claim in its transaction, and the caller settles the claim when
   * the work has ended. Losing the race to another request with the key is answered like coming after it.
   * What `accept` throws leaves the key free.
   */
  enter<T>(scope: Scope | null, accept: (claim: Claim) => Promise<T>): Promise<Entered<T>>
  /**
   * The whole way for work that ends with one reply: replays, or runs `work` and stores what it answers;
   * what it throws releases the key.
   */
  once(scope: Scope | null, work: (claim: Claim) => Promise<Reply>): Promise<Reply & { replayed: boolean }>
  readonly loops: Loop[]
}

export type Door = { replay: Reply; claim: null } | { replay: null; claim: Claim }
export type Entered<T> =
  | { replay: Reply; accepted: null; claim: null }
  | { replay: null; accepted: T; claim: Claim }

/** So many requests with one key may be faster, one after another. */
const most = 3

export function createIdempotency(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** Asked only for claims that name their work. */
  workState(work: Work): Promise<WorkState>
}): Idempotency {
  const { db, clock, log } = deps
  const store = claimStore(db)
  const now = () => timestamp(clock.now())
  const storeFaults = new WeakSet<object>()
  const onStoreFault = (error: unknown) => {
    if (typeof error === 'object' && error !== null) storeFaults.add(error)
  }
  const isStoreFault = (error: unknown) =>
    typeof error === 'object' && error !== null && storeFaults.has(error)
  const freshClaim = (scope: Scope, superseded: string | null) =>
    newClaim({ store, clock, log, onStoreFault }, scope, superseded)

  async function open(scope: Scope | null): Promise<Door> {
    if (scope === null) return { replay: null, claim: unprotected }
    let found: ClaimRow | undefined
    let state: WorkState | null = null
    try {
      found = await store.find(scope.hash, now())
      if (found && needsState(found)) state = await deps.workState(found)
    } catch (error) {
      // The work needs the database as well. When that is back by then, its key is written with it, and a
      // request that came before shows.
      if (error instanceof DatabaseDown) return { replay: null, claim: freshClaim(scope, null) }
      log.warn({ err: error }, 'idempotency keys cannot be read: a request goes in unprotected')
      return { replay: null, claim: unprotected }
    }
    if (!found) return { replay: null, claim: freshClaim(scope, null) }
    if (state?.state === 'void') return { replay: null, claim: freshClaim(scope, found.claim_id) }
    tellOtherBody(scope, found)
    const replay = storedReply(found)
    if (replay) return { replay, claim: null }
    // Its process died between the end of the work and the storing of its reply.
    if (state?.state === 'done' && state.reply) return { replay: state.reply, claim: null }
    throw inProgress(found)
  }

  /** The key alone identifies a request; whoever reuses one by mistake finds it in the log. */
  function tellOtherBody(scope: Scope, { body_digest, execution_id, fan_out_id }: ClaimRow): void {
    if (scope.bodyDigest === null || body_digest === null || scope.bodyDigest === body_digest) return
    log.warn(
      { execution_id, fan_out_id },
      'an idempotency key came again with a different body; it is answered as the first request was',
    )
  }

  async function enter<T>(scope: Scope | null, accept: (claim: Claim) => Promise<T>): Promise<Entered<T>> {
    for (let attempt = 1; attempt <= most; attempt += 1) {
      const { replay, claim } = await open(scope)
      if (replay) return { replay, accepted: null, claim: null }
      let isTaken = false
      const watched: Claim = {
        ...claim,
        async take(...given) {
          await claim.take(...given)
          isTaken = true
        },
      }
      try {
        return { replay: null, accepted: await accept(watched), claim }
      } catch (error) {
        // Without a database, or room in it, nothing was accepted; whoever asks again may have what this request was
        // after.
        const isNobodys = error instanceof DatabaseDown || error instanceof DatabaseFull
        if (isStoreFault(error) && !isNobodys) {
          log.warn({ err: error }, 'an idempotency key cannot be stored: a request goes in unprotected')
          return { replay: null, accepted: await accept(unprotected), claim: unprotected }
        }
        if (error instanceof ClaimTaken) continue
        // What is refused without having reached its key, for want of room say, may be the second of two requests
        // that came at once, and the first be what took the room.
        if (scope === null || isTaken || !(error instanceof Fault)) throw error
        const second = await open(scope)
        if (!second.replay) throw error
        return { replay: second.replay, accepted: null, claim: null }
      }
    }
    throw new Fault('request_in_progress')
  }

  return {
    open,
    enter,
    async once(scope, work) {
      const entered = await enter(scope, async (claim) => {
        try {
          const reply = await work(claim)
          await claim.complete(reply)
          return reply
        } catch (error) {
          await claim.release()
          throw error
        }
      })
      if (entered.replay) return { ...entered.replay, replayed: true }
      return { ...entered.accepted, replayed: false }
    },
    loops: [{ name: 'idempotency-expiry', everySeconds: 600, run: () => store.removeExpired(now()) }],
  }
}

/** A reply that is final needs no look at the work; a claim that names none cannot be looked after. */
function needsState(row: ClaimRow): boolean {
  if (row.execution_id === null && row.fan_out_id === null) return false
  return row.state === 'running' || row.receipt === 1
}

function storedReply(row: ClaimRow): Reply | null {
  if (row.state !== 'finished' || row.status === null) return null
  const resource = row.resource_id === null ? {} : { resourceId: row.resource_id }
  return { status: row.status, body: JSON.parse(row.body ?? 'null'), receipt: row.receipt === 1, ...resource }
}

function inProgress({ execution_id, fan_out_id }: ClaimRow): Fault {
  return new Fault('request_in_progress', undefined, {
    ...(execution_id === null ? {} : { execution_id }),
    ...(fan_out_id === null ? {} : { fan_out_id }),
  })
}
