import { setTimeout } from 'node:timers/promises'
import {
  announcementOf,
  changesTopic,
  eventsTopic,
  followersTopic,
  hasChanges,
  type Outbox,
  type StoredEvent,
} from '../foundation/outbox/index.ts'
import { type Clock, tickMs, waitEnded } from '../kit/clock.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Log } from '../ports/log.ts'
import { createStreak } from '../ports/log-streak.ts'

export type Relay = { stop(): Promise<void> }

type Subscription = Awaited<ReturnType<Ephemeral['subscribe']>>

/** Interval between trims of the outbox. */
const trimSeconds = 60
/** Events that follow within this time share one transaction and one message; others see them that much later. */
const gatherMs = 15
/** Spreads the polls of the processes, so that one of them polls before the others. */
const pollSpread = 0.25

/** Without messages, events of other processes are found only by polls. */
const secondsAlone = 1
/** With messages, polls find the events of a process that died before it announced them. */
const secondsWithMessages = 5
/** Delay of the progress of runs: to replicas that follow no others, and to all while none follows. */
const progressMs = 1000
/** Interval at which a replica that follows others says so. */
const followSeconds = 5

/**
 * Delivers stored events to the listeners of this process, after a transaction or from a message of another
 * replica, which contains them. Also polls some seconds after the last message, because messages may be lost and
 * processes may share only the database file. Replicas that follow others announce their polls, so that one of them
 * polls in that time. While no replica follows others, progress of runs is relayed about once a second. Trims old
 * events.
 */
export async function startRelay(deps: {
  outbox: Outbox
  ephemeral: Pick<Ephemeral, 'kind' | 'ping' | 'publish' | 'subscribe'>
  clock: Clock
  log: Log
  /** Returns 0 to 1. */
  random?: () => number
}): Promise<Relay> {
  const { outbox, ephemeral, clock, log, random = Math.random } = deps
  const { relaying } = outbox
  const sharesMessages = ephemeral.kind === 'redis'
  /** Nobody here follows other replicas. */
  let isQuiet = sharesMessages
  let announcements: Promise<Subscription | null> | null = null
  /** False without a topic that this process needs. */
  let isHeard = true
  /** False while the own messages cannot be sent. */
  let isSent = true
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  let trimAt = 0
  let pollAt = 0
  /** True after messages may have been lost. */
  let mustPoll = false
  /** True while a pass for progress of runs waits for its time. */
  let isLazy = false
  /** The newest position that this process has announced. */
  let announced = 0
  /** The newest position on the topic of changes. */
  let told = 0
  let isTelling = false
  let following = new AbortController()
  const wake = () => woken.resolve()

  await relaying.start()
  relaying.onDue((isUrgent) => {
    if (isUrgent || !sharesMessages || !isHeard || relaying.isFollowed()) wake()
    else void wakeLater()
  })
  const followers = await subscribe(followersTopic, relaying.hearFollower)
  await relaying.onFollowing(attend)
  if (!sharesMessages) announcements = subscribe(eventsTopic, receive)
  const changes = await subscribe(changesTopic, receiveChange)
  const running = run()

  return {
    async stop() {
      stopping.abort()
      wake()
      await running
      following.abort()
      await relaying.settled()
      for (const subscription of [followers, changes, await announcements])
        await subscription?.close().catch(() => {})
    },
  }

  function pollMs(): number {
    return (sharesMessages && isHeard && isSent ? secondsWithMessages : secondsAlone) * 1000
  }

  async function wakeLater(): Promise<void> {
    if (isLazy) return
    isLazy = true
    await clock.waitAbout(progressMs, stopping.signal)
    isLazy = false
    wake()
  }

  async function attend(isFollowing: boolean): Promise<void> {
    if (!sharesMessages) return
    isQuiet = !isFollowing
    following.abort()
    if (isFollowing) {
      const own = new AbortController()
      following = own
      announcements ??= subscribe(eventsTopic, receive)
      await announcements
      void sayFollowing(own.signal)
      await relaying.catchUp().catch(onGap)
    } else {
      const subscription = announcements
      announcements = null
      await (await subscription)?.close().catch(() => {})
    }
  }

  /** If a message is lost, progress comes a second late until the next one. */
  async function sayFollowing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !stopping.signal.aborted) {
      await ephemeral.publish(followersTopic, '').catch(() => {})
      await clock.waitAbout(followSeconds * 1000, signal)
    }
  }

  function onGap(): void {
    mustPoll = true
    relaying.hearFollower()
    wake()
  }

  /** A replica that receives a position reads all events up to it. */
  function receiveChange(message: string): void {
    told = Math.max(told, Number(message))
    relaying.receive(message)
  }

  /** Sends the newest position to replicas that follow no others, unless another message has done so by then. */
  async function tellLater(): Promise<void> {
    if (isTelling) return
    isTelling = true
    await clock.waitAbout(progressMs, stopping.signal)
    isTelling = false
    if (announced > told) send([ephemeral.publish(changesTopic, String(announced))])
  }

  /** The sender gave positions to all stored events, so a poll would find nothing. */
  function receive(message: string): void {
    if (relaying.receive(message)) pollAt = clock.now().getTime() + pollMs() * (1 + pollSpread * random())
  }

  /** Resolves when no events have come for so long, but a retry waits no longer than a second. */
  async function untilPoll(signal: AbortSignal, isRetry: boolean): Promise<void> {
    const planned = pollAt
    await clock.waitAbout(isRetry ? Math.min(pollMs(), secondsAlone * 1000) : pollMs(), signal)
    for (;;) {
      const ms = pollAt - clock.now().getTime()
      // A tick may have ended the wait early. Another short wait would last a whole tick, and a clock that was set back
      // must not delay the poll.
      const isDue = pollAt === planned || ms < tickMs / 2 || ms > pollMs() * (1 + pollSpread)
      if (isRetry || isDue || signal.aborted) break
      await clock.waitAbout(ms, signal)
    }
    if (!signal.aborted) pollAt = 0
  }

  /** Without the topic the relay only polls, so a failure does not prevent the start. */
  async function subscribe(topic: string, hear: (message: string) => void): Promise<Subscription | null> {
    try {
      return await ephemeral.subscribe(topic, hear, onGap)
    } catch (error) {
      log.warn({ err: error }, 'messages of other replicas are not received: events are found by polling')
      isHeard = false
      return null
    }
  }

  /** Each process trims: without old events it costs one index lookup. */
  async function trimIfDue() {
    const now = clock.now().getTime()
    if (now < trimAt) return
    trimAt = now + trimSeconds * 1000
    await relaying.trim()
  }

  async function run() {
    const streak = createStreak(log, {
      failing: 'events could not be relayed',
      over: 'events are relayed again',
    })
    while (!stopping.signal.aborted) {
      woken = Promise.withResolvers()
      let failed = false
      // Without the topic, this process would not learn of followers.
      if (!isHeard) relaying.hearFollower()
      try {
        const now = clock.now().getTime()
        const isPoll = mustPoll || now >= pollAt
        mustPoll = false
        const nextPollAt = now + pollMs()
        if (isPoll) pollAt = nextPollAt
        // A replica that sends nothing would not notice an outage.
        if (isPoll && isQuiet) send([ephemeral.ping()])
        const events = await relaying.pass({ isPoll, isQuiet })
        // The pass has read all earlier events, except at a quiet replica, which may still lack those of others.
        if (events.length > 0 && !isQuiet) pollAt = nextPollAt
        announce(events, isPoll)
        await trimIfDue()
        streak.worked()
      } catch (error) {
        failed = true
        streak.failed(error)
      }
      const waiting = new AbortController()
      const pause = untilPoll(waiting.signal, failed)
      // A failing database is retried at the polling interval, not for each appended event.
      const isPaused = pause.then(() => true)
      const isWoken = woken.promise.then(() => false)
      const isPollDue = await (failed && !stopping.signal.aborted
        ? isPaused
        : Promise.race([isWoken, isPaused]))
      waiting.abort(waitEnded)
      // In real time: the clock of a test does not move by itself.
      if (!isPollDue) await setTimeout(gatherMs, null, { signal: stopping.signal }).catch(() => {})
    }
    // Deliver events committed so far before the listeners stop.
    await relaying
      .pass()
      .then(announce, (error) => log.error({ err: error }, 'the last events were not relayed'))
  }

  function announce(events: StoredEvent[], isPoll = false): void {
    // Replicas that follow others poll later after they received this.
    if (events.length === 0 && !(isPoll && sharesMessages && !isQuiet)) return
    const message = events.length > 0 ? announcementOf(events) : String(outbox.position())
    const sending = [ephemeral.publish(eventsTopic, message)]
    announced = events.at(-1)?.position ?? announced
    if (sharesMessages && hasChanges(events)) sending.push(ephemeral.publish(changesTopic, String(announced)))
    else if (sharesMessages && events.length > 0) void tellLater()
    send(sending)
  }

  function send(sending: Promise<void>[]): void {
    Promise.all(sending).then(
      () => {
        isSent = true
      },
      (error: unknown) => {
        isSent = false
        log.debug({ err: error }, 'other replicas will find the events by polling')
      },
    )
  }
}
