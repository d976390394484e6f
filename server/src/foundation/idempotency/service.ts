import type { Loop } from '../../background/loops.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { DatabaseDown, DatabaseFull, type Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Claim, ClaimTaken, newClaim, type Reply, unprotected } from './claim.ts'
import type { Scope } from './scope.ts'
import { type ClaimRow, claimStore } from './store.ts'
import type { Work, WorkState } from './work.ts'

export type Idempotency = {
  /**
   * Reads the key's state; `scope` is null for requests without a key. Throws `request_in_progress` with the
   * `execution_id` or `fan_out_id` of the first request.
   */
  open(scope: Scope | null): Promise<Opened>
  /**
   * Opens the key and calls `accept`, which takes the claim in its transaction. The caller settles the claim when
   * the work has ended. A request that loses the race for the key gets the winner's reply.
   * An error of `accept` leaves the key free.
   */
  enter<T>(scope: Scope | null, accept: (claim: Claim) => Promise<T>): Promise<Entered<T>>
  /**
   * For work that ends with one reply: replays the stored reply, or runs `work` and stores its reply. An error of
   * `work` releases the key.
   */
  once(scope: Scope | null, work: (claim: Claim) => Promise<Reply>): Promise<Reply & { replayed: boolean }>
  readonly loops: Loop[]
}

export type Opened = { replay: Reply; claim: null } | { replay: null; claim: Claim }
export type Entered<T> =
  | { replay: Reply; accepted: null; claim: null }
  | { replay: null; accepted: T; claim: Claim }

/** Times that a request may lose the race for its key before it gets 409. */
const maxAttempts = 3

export function createIdempotency(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  /** Called only for claims that name their work. */
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

  async function open(scope: Scope | null): Promise<Opened> {
    if (scope === null) return { replay: null, claim: unprotected }
    let found: ClaimRow | undefined
    let state: WorkState | null = null
    try {
      found = await store.find(scope.hash, now())
      if (found && needsState(found)) state = await deps.workState(found)
    } catch (error) {
      // The work needs the database too. If that is back by then, the claim is written with the work and conflicts
      // with an earlier request.
      if (error instanceof DatabaseDown) return { replay: null, claim: freshClaim(scope, null) }
      log.warn({ err: error }, 'idempotency keys cannot be read: a request runs unprotected')
      return { replay: null, claim: unprotected }
    }
    if (!found) return { replay: null, claim: freshClaim(scope, null) }
    if (state?.state === 'void') return { replay: null, claim: freshClaim(scope, found.claim_id) }
    logOtherBody(scope, found)
    const replay = storedReply(found)
    if (replay) return { replay, claim: null }
    // The process died after the end of the work and before it stored the reply.
    if (state?.state === 'done' && state.reply) return { replay: state.reply, claim: null }
    throw inProgress(found)
  }

  /** The key alone identifies a request. The log shows keys that a client reused by mistake. */
  function logOtherBody(scope: Scope, { body_digest, execution_id, fan_out_id }: ClaimRow): void {
    if (scope.bodyDigest === null || body_digest === null || scope.bodyDigest === body_digest) return
    log.warn(
      { execution_id, fan_out_id },
      'an idempotency key was reused with a different body; the request gets the first reply',
    )
  }

  async function enter<T>(scope: Scope | null, accept: (claim: Claim) => Promise<T>): Promise<Entered<T>> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { replay, claim } = await open(scope)
      if (replay) return { replay, accepted: null, claim: null }
      let hasTaken = false
      const watched: Claim = {
        ...claim,
        async take(...args) {
          await claim.take(...args)
          hasTaken = true
        },
      }
      try {
        return { replay: null, accepted: await accept(watched), claim }
      } catch (error) {
        // These faults fail the work too, so an unprotected attempt would be useless.
        const isDatabaseFault = error instanceof DatabaseDown || error instanceof DatabaseFull
        if (isStoreFault(error) && !isDatabaseFault) {
          log.warn({ err: error }, 'an idempotency key cannot be stored: a request runs unprotected')
          return { replay: null, accepted: await accept(unprotected), claim: unprotected }
        }
        if (error instanceof ClaimTaken) continue
        // A refusal before the claim, such as a full queue, may be caused by a concurrent request with the same key.
        // Then its reply is returned.
        if (scope === null || hasTaken || !(error instanceof Fault)) throw error
        const { replay: other } = await open(scope)
        if (!other) throw error
        return { replay: other, accepted: null, claim: null }
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

/** False for a final reply, and for a claim that names no work. */
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
