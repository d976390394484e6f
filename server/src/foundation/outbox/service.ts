import type { Clock } from '../../kit/clock.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Listener, NewEvent, StoredEvent } from './event.ts'
import { createListeners } from './listeners.ts'
import { outboxStore } from './store.ts'

export type Outbox = {
  /** Stores `event` in the transaction of its cause; the relay delivers it after the commit. */
  append(tx: Tx, event: NewEvent, now: Date): Promise<void>
  /** Appends several events in order. */
  appendAll(tx: Tx, events: readonly NewEvent[], now: Date): void
  /** Calls `listener` for every event of a type, or of all types (`*`), in order. The result unsubscribes. */
  on(type: string, listener: Listener): () => void
  /**
   * Delivers an event to the present listeners here and in replicas that follow others. Not stored, at most once. The
   * activity of agents is sent only while a follower is known.
   */
  signal(event: NewEvent): void
  /**
   * Receives the signals of other replicas, and their events at once, until the result is called. Resolves when they
   * arrive and everything before is delivered. Without it, the progress of runs may come seconds later.
   */
  follow(): Promise<() => void>
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
  /** Range of stored positions; `oldest` is null while no event is stored. */
  storedRange(): Promise<{ oldest: number | null; newest: number }>
  /** Removes events from before this time, so that they are not kept longer than what they report. */
  trimBefore(before: string): Promise<void>
  /** For the relay. */
  readonly relaying: Relaying
}

/** For features that send and hear signals. */
export type Events = Pick<Outbox, 'on' | 'signal' | 'wait'>

export type Relaying = {
  /** Starts delivery behind the newest event; this process does not deliver older ones. */
  start(): Promise<void>
  /**
   * Assigns positions to new events, delivers them and returns them. Without `isPoll` it looks only for events that
   * this process has stored or another replica has announced. `isQuiet`: after earlier events of others, progress of
   * runs is left to the next poll or announced position.
   */
  pass(options?: { isPoll?: boolean; isQuiet?: boolean }): Promise<StoredEvent[]>
  /**
   * Delivers the events that another replica announced. Returns false if this process lacks some of them or earlier ones;
   * a pass is then due.
   */
  receive(announcement: string): boolean
  /** Calls `wake` when a pass is due. `isUrgent` is false if it is only for progress of runs. */
  onDue(wake: (isUrgent: boolean) => void): void
  /** Calls `attend` with true when this process begins to follow others or does so already, with false when it stops. */
  onFollowing(attend: (isFollowing: boolean) => Promise<void>): Promise<void>
  /** A replica, perhaps this one, has announced that it follows others. */
  hearFollower(): void
  /** Whether any replica follows others, as far as this process knows. */
  isFollowed(): boolean
  /** Delivers all stored events. */
  catchUp(): Promise<void>
  /** Removes all but the newest events. */
  trim(): Promise<void>
  /** Resolves when the listeners have handled everything delivered so far. */
  settled(): Promise<void>
}

/** A client that missed more events than this cannot resume. */
export const maxStoredEvents = 10_000
/** Every announcement; for replicas that follow others. */
export const eventsTopic = 'outbox'
/** Positions of announcements that contain more than the progress of runs; for all replicas. */
export const changesTopic = 'outbox.changes'
/** Repeated by each replica that follows others, so that the others know of it. */
export const followersTopic = 'outbox.followers'
const signalsTopic = 'signals'

/** A replica announces every five seconds that it follows others. Some of these messages may be lost. */
const followedSeconds = 16

/** Events that one transaction positions and one query reads. */
const batchSize = 500
/** Longer announcements have only a position: the other replicas read the events. */
const maxAnnouncementLength = 65_536

/** The message to other replicas about events in order: the newest position, a space and the events as JSON. */
export function announcementOf(events: readonly StoredEvent[]): string {
  const position = String(events.at(-1)?.position)
  const text = `${position} ${JSON.stringify(events)}`
  return text.length <= maxAnnouncementLength ? text : position
}

/** Most events and signals are of these types, and only people who watch need them at once. */
const progressOfRuns = new Set([
  'execution.created',
  'execution.started',
  'execution.finished',
  'agent.activity',
])

export function hasChanges(events: readonly Pick<NewEvent, 'type'>[]): boolean {
  return events.some(({ type }) => !progressOfRuns.has(type))
}

export function createOutbox(deps: {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  log: Log
  clock: Pick<Clock, 'now'>
}): Outbox {
  const { db, ephemeral, log, clock } = deps
  const listeners = createListeners(log)
  const store = outboxStore(db)
  const origin = newId()
  let delivered = 0
  let wake = (_isUrgent: boolean) => {}
  /** True when this process has stored events since the last pass started. */
  let isAppended = false
  /** True when another replica has announced events since then, perhaps those of this process as well. */
  let isAnnounced = false
  /** True when events that this process does not have are stored. */
  let isBehind = false

  let followers = 0
  /** Milliseconds since 1970. */
  let followedUntil = 0
  let attend: (isFollowing: boolean) => Promise<void> = async () => {}
  let signalTopic: ReturnType<Ephemeral['subscribe']> | null = null

  const deliverSignal = (event: NewEvent, ts: string) =>
    listeners.deliver({ ...event, position: delivered, ts, signal: true })

  function hear(message: string): void {
    // Only replicas of Roost publish on this topic.
    const signal = JSON.parse(message) as { origin: string; event: NewEvent; ts: string }
    if (signal.origin !== origin) deliverSignal(signal.event, signal.ts)
  }

  /** Each run sends signals, so a replica receives them only while somebody here wants them. */
  async function subscribeSignals(): Promise<void> {
    signalTopic ??= ephemeral.subscribe(signalsTopic, hear)
    const topic = signalTopic
    try {
      await topic
    } catch (error) {
      if (signalTopic === topic) signalTopic = null
      log.warn({ err: error }, 'signals of other replicas are not received')
    }
  }

  function unsubscribeSignals(): void {
    const topic = signalTopic
    signalTopic = null
    topic?.then((subscription) => subscription.close()).catch(() => {})
  }

  function deliver(event: StoredEvent): void {
    delivered = event.position
    listeners.deliver(event)
  }

  async function deliverStored(): Promise<void> {
    for (;;) {
      const events = await store.after(delivered, batchSize)
      // Another replica's announcement may have delivered some of them during the query.
      for (const event of events) if (event.position > delivered) deliver(event)
      if (events.length < batchSize) return
    }
  }

  /** Sends the commit right after the statements, so the head row is locked for as short as possible. */
  async function assignPositions(): Promise<StoredEvent[]> {
    const { positioning } = await db.atomically(async (tx) => {
      const positioning = outboxStore(tx).assignPositions(batchSize)
      tx.alongside(positioning)
      return { positioning }
    })
    return positioning
  }

  function appended(events: readonly NewEvent[]): void {
    isAppended = true
    wake(hasChanges(events))
  }

  function hearFollower(): void {
    followedUntil = clock.now().getTime() + followedSeconds * 1000
    if (isAppended) wake(true)
  }

  const isFollowed = () => followers > 0 || clock.now().getTime() < followedUntil

  /** False when events before them are missing. */
  function deliverNext(events: readonly StoredEvent[]): boolean {
    const next = events.filter(({ position }) => position > delivered)
    if (next[0] && next[0].position !== delivered + 1) return false
    next.forEach(deliver)
    return true
  }

  const outbox: Outbox = {
    async append(tx, event, now) {
      tx.alongside(outboxStore(tx).insert(event, timestamp(now)))
      tx.onCommitted(() => appended([event]))
    },
    appendAll(tx, events, now) {
      if (events.length === 0) return
      tx.alongside(outboxStore(tx).insertAll(events, timestamp(now)))
      tx.onCommitted(() => appended(events))
    },
    on: (type, listener) => listeners.on(type, listener),
    signal(event) {
      const ts = timestamp(clock.now())
      deliverSignal(event, ts)
      if (!hasChanges([event]) && !isFollowed()) return
      ephemeral.publish(signalsTopic, JSON.stringify({ origin, event, ts })).catch((error: unknown) => {
        log.debug({ err: error, event: event.type }, 'a signal did not reach the other replicas')
      })
    },
    async follow() {
      followers += 1
      await Promise.all([subscribeSignals(), attend(true)])
      let isFollowing = true
      return () => {
        if (!isFollowing) return
        isFollowing = false
        followers -= 1
        if (followers > 0) return
        unsubscribeSignals()
        void attend(false)
      }
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
    async storedRange() {
      const [oldest, newest] = await Promise.all([store.oldest(), store.head()])
      return { oldest, newest }
    },
    trimBefore: (before) => store.trimBefore(before),
    relaying: {
      async start() {
        delivered = await store.head()
        // Other replicas may follow already.
        hearFollower()
      },
      async pass({ isPoll = true, isQuiet = false } = {}) {
        const assigned: StoredEvent[] = []
        const mustAsk = isPoll || (isAppended && isAnnounced)
        const isNew = isAppended
        isAppended = false
        isAnnounced = false
        const news = mustAsk ? await store.news() : null
        let isMore = news ? news.hasWithoutPosition : isNew
        let mustRead = isBehind || (news !== null && news.newest > delivered)
        isBehind = false
        while (isMore) {
          const positioned = await assignPositions()
          assigned.push(...positioned)
          // After another replica positioned events in between, all are read from the table.
          const isNext = deliverNext(positioned) && positioned.length > 0
          if (isNext) mustRead = false
          else if (!isQuiet || hasChanges(positioned)) mustRead = true
          // Events stored later wake the next pass.
          isMore = positioned.length === batchSize
        }
        if (mustRead) await deliverStored()
        return assigned
      },
      receive(announcement) {
        const space = announcement.indexOf(' ')
        const position = Number(space < 0 ? announcement : announcement.slice(0, space))
        // Also true for the own announcements.
        if (position <= delivered) return true
        isAnnounced = true
        // Only replicas of Roost publish on this topic; those of earlier versions send only the position.
        if (space > 0 && deliverNext(JSON.parse(announcement.slice(space)) as StoredEvent[])) return true
        isBehind = true
        wake(true)
        return false
      },
      onDue(act) {
        wake = act
      },
      async onFollowing(act) {
        attend = act
        if (followers > 0) await act(true)
      },
      hearFollower,
      isFollowed,
      catchUp: deliverStored,
      trim: () => store.trim(maxStoredEvents),
      settled: () => listeners.settled(),
    },
  }
  return outbox
}
