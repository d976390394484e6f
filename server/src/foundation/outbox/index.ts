import type { Clock } from '../../kit/clock.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Listener, NewEvent, StoredEvent } from './event.ts'
import { createListeners } from './listeners.ts'
import { outboxStore } from './store.ts'

export type { Listener, NewEvent, ReservedFields, SeenBy, StoredEvent } from './event.ts'

/**
 * What happened, told to whoever cares: in this process, in other replicas, and later to those who were
 * away. A stored event is written in the transaction that causes it, so there is none without its cause
 * and no cause without it. The relay gives it a position after the commit; positions have no gaps, and an
 * event with a lower position never shows up after one with a higher.
 *
 * A listener hears what happens while its process lives. Work that must be done however often processes
 * die is found in the tables, not here.
 */
export type Outbox = {
  /** Stores `event` in the transaction that causes it; it is delivered after the commit. */
  append(tx: Tx, event: NewEvent, now: Date): Promise<void>
  /** The same for many, in their order. */
  appendAll(tx: Tx, events: readonly NewEvent[], now: Date): void
  /** Hears every event of one type, or of all (`*`), in order. Call the result to stop. */
  on(type: string, listener: Listener): () => void
  /** Tells everybody who listens now, here and in other replicas; not stored, at most once. */
  signal(event: NewEvent): void
  /** The next event of `type` that `predicate` accepts; null when `signal` aborts first. */
  wait(
    type: string,
    predicate: (event: StoredEvent) => boolean,
    signal: AbortSignal,
  ): Promise<StoredEvent | null>
  /** The newest position that this process has delivered. */
  position(): number
  /** Stored events after `position`, oldest first. */
  after(position: number, limit: number): Promise<StoredEvent[]>
  /** The positions that are kept; `oldest` is null while nothing is. */
  kept(): Promise<{ oldest: number | null; newest: number }>
  /** For the relay: one pass and what starts one. */
  readonly relaying: Relaying
}

/** What a feature takes that tells something. */
export type Events = Pick<Outbox, 'on' | 'signal' | 'wait'>

export type Relaying = {
  /** Where delivery starts: events up to now are not delivered in this process. */
  start(): Promise<void>
  /** Gives positions to new events and delivers what is due; true when it gave any. */
  pass(): Promise<boolean>
  /** A signal of another replica. */
  hear(message: string): void
  /** Calls `wake` when a transaction of this process has left events. */
  onAppended(wake: () => void): void
  /** Removes what is older than the kept events. */
  trim(): Promise<void>
  /** Resolves when everything delivered so far was heard. */
  settled(): Promise<void>
}

/** What sockets may resume from. */
export const keptEvents = 10_000
export const eventsTopic = 'outbox'
export const signalsTopic = 'signals'

/** Events that one transaction places and one query reads. */
const batch = 500

export function createOutbox(deps: {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish'>
  log: Log
  clock: Pick<Clock, 'now'>
}): Outbox {
  const { db, ephemeral, log, clock } = deps
  const listeners = createListeners(log)
  const store = outboxStore(db)
  const origin = newId()
  let delivered = 0
  let wake = () => {}
  /** This process has left events that no pass has looked for yet. */
  let isAppended = false

  const tellSignal = (event: NewEvent, ts: string) =>
    listeners.tell({ ...event, position: delivered, ts, signal: true })

  function deliver(event: StoredEvent): void {
    delivered = event.position
    listeners.tell(event)
  }

  async function deliverStored(): Promise<void> {
    for (;;) {
      const events = await store.after(delivered, batch)
      events.forEach(deliver)
      if (events.length < batch) return
    }
  }

  /** The commit is sent right behind the statements: nobody waits meanwhile for the head, which is locked. */
  async function place(): Promise<StoredEvent[]> {
    const { placing } = await db.atomically(async (tx) => {
      const placing = outboxStore(tx).place(batch)
      tx.alongside(placing)
      return { placing }
    })
    return placing
  }

  function appended(): void {
    isAppended = true
    wake()
  }

  const outbox: Outbox = {
    async append(tx, event, now) {
      tx.alongside(outboxStore(tx).insert(event, timestamp(now)))
      tx.onCommitted(appended)
    },
    appendAll(tx, events, now) {
      if (events.length === 0) return
      tx.alongside(outboxStore(tx).insertAll(events, timestamp(now)))
      tx.onCommitted(appended)
    },
    on: (type, listener) => listeners.on(type, listener),
    signal(event) {
      const ts = timestamp(clock.now())
      tellSignal(event, ts)
      ephemeral.publish(signalsTopic, JSON.stringify({ origin, event, ts })).catch((error: unknown) => {
        log.debug({ err: error, event: event.type }, 'a signal did not reach the other replicas')
      })
    },
    wait(type, predicate, signal) {
      const { promise, resolve } = Promise.withResolvers<StoredEvent | null>()
      if (signal.aborted) return Promise.resolve(null)
      const stop = listeners.on(type, (event) => {
        if (predicate(event)) end(event)
      })
      const onAbort = () => end(null)
      const end = (event: StoredEvent | null) => {
        stop()
        signal.removeEventListener('abort', onAbort)
        resolve(event)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      return promise
    },
    position: () => delivered,
    after: (position, limit) => store.after(position, limit),
    async kept() {
      const [oldest, newest] = await Promise.all([store.oldest(), store.head()])
      return { oldest, newest }
    },
    relaying: {
      async start() {
        delivered = await store.head()
      },
      async pass() {
        let isMore = isAppended || (await store.hasUnplaced())
        let hasPlaced = false
        let isWhole = false
        while (isMore) {
          isAppended = false
          const placed = await place()
          hasPlaced ||= placed.length > 0
          // Others have placed some in between: then all are read.
          isWhole = placed[0]?.position === delivered + 1
          if (isWhole) placed.forEach(deliver)
          // What is left behind later wakes the next pass.
          isMore = placed.length === batch
        }
        if (!isWhole) await deliverStored()
        return hasPlaced
      },
      hear(message) {
        // Only replicas of Roost publish on this topic.
        const signal = JSON.parse(message) as { origin: string; event: NewEvent; ts: string }
        if (signal.origin !== origin) tellSignal(signal.event, signal.ts)
      },
      onAppended(act) {
        wake = act
      },
      trim: () => store.trim(keptEvents),
      settled: () => listeners.settled(),
    },
  }
  return outbox
}
