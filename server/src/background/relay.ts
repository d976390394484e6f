import { eventsTopic, type Outbox, signalsTopic } from '../foundation/outbox/index.ts'
import type { Clock } from '../kit/clock.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Log } from '../ports/log.ts'
import { createStreak } from '../ports/log-streak.ts'

export type Relay = { stop(): Promise<void> }

/** How far the outbox may grow beyond what it keeps: the events of this time. */
const trimSeconds = 60

/**
 * Brings stored events to the listeners of this process. It passes when a transaction here has left
 * events, when another replica says so, and every `pollSeconds` whatever happens: topics may lose messages
 * and processes that share only the database file have none. Now and then it removes what is too old.
 */
export async function startRelay(deps: {
  outbox: Outbox
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  clock: Clock
  log: Log
  pollSeconds?: number
}): Promise<Relay> {
  const { outbox, ephemeral, clock, log, pollSeconds = 1 } = deps
  const { relaying } = outbox
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  let trimAt = 0
  const wake = () => woken.resolve()

  await relaying.start()
  relaying.onAppended(wake)
  const subscriptions = await subscribe()
  const running = run()

  return {
    async stop() {
      stopping.abort()
      wake()
      await running
      await relaying.settled()
      await Promise.all(subscriptions.map((subscription) => subscription.close().catch(() => {})))
    },
  }

  /** Every process hears its own announcements, too. */
  function heard(position: string): void {
    if (!(Number(position) <= outbox.position())) wake()
  }

  /** Without the topics the relay only polls; they are no reason not to start. */
  async function subscribe() {
    try {
      return [
        await ephemeral.subscribe(eventsTopic, heard, wake),
        await ephemeral.subscribe(signalsTopic, (message) => relaying.hear(message)),
      ]
    } catch (error) {
      log.warn({ err: error }, 'other replicas are not heard: events are looked for by polling')
      return []
    }
  }

  /** Each process does it: removing what is gone already costs a look at an index. */
  async function trimNowAndThen() {
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
      try {
        if (await relaying.pass()) announce()
        await trimNowAndThen()
        streak.worked()
      } catch (error) {
        failed = true
        streak.failed(error)
      }
      const waiting = new AbortController()
      const pause = clock.wait(pollSeconds * 1000, waiting.signal)
      // A database that is away is asked at the pace of polling, not as fast as events are appended.
      await (failed && !stopping.signal.aborted ? pause : Promise.race([woken.promise, pause]))
      // With a word of its own: the reason it would be given otherwise is an exception with a stack, for each commit.
      waiting.abort('over')
    }
    // What was committed until now is delivered before the listeners go away.
    await relaying.pass().catch((error) => log.error({ err: error }, 'the last events were not relayed'))
  }

  function announce() {
    ephemeral.publish(eventsTopic, String(outbox.position())).catch((error: unknown) => {
      log.debug({ err: error }, 'other replicas will find the events by polling')
    })
  }
}
