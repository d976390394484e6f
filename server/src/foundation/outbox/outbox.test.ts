import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { until } from '../../agents/test/world.ts'
import { startRelay } from '../../background/relay.ts'
import type { Db } from '../../ports/database/port.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import {
  announcementOf,
  changesTopic,
  createOutbox,
  eventsTopic,
  maxStoredEvents,
  type NewEvent,
  type Outbox,
  type StoredEvent,
} from './index.ts'

/** Polls follow the last message after the shortest time. */
const random = () => 0

const hatched = (number: number, more: Partial<NewEvent> = {}): NewEvent => ({
  type: 'egg.hatched',
  agent_names: ['wren'],
  agent_ids: ['a1'],
  fields: { number },
  ...more,
})

/** The parts of a platform process that handle events. */
async function startProcess(
  db: Db,
  options: { ephemeral?: Ephemeral; start?: boolean; follow?: boolean } = {},
) {
  const clock = createTestClock()
  const ephemeral = options.ephemeral ?? memoryEphemeral({ clock, log: silentLog })
  const outbox = createOutbox({ db, ephemeral, log: silentLog, clock })
  if (options.follow) await outbox.follow()
  const relay =
    options.start === false ? null : await startRelay({ outbox, ephemeral, clock, log: silentLog, random })
  const append = (event: NewEvent) => db.atomically((tx) => outbox.append(tx, event, clock.now()))
  return { outbox, clock, append, [Symbol.asyncDispose]: async () => relay?.stop() }
}

/** Resolves with the first `count` events. */
function hear(outbox: ReturnType<typeof createOutbox>, type: string, count: number): Promise<StoredEvent[]> {
  const { promise, resolve } = Promise.withResolvers<StoredEvent[]>()
  const events: StoredEvent[] = []
  outbox.on(type, (event) => {
    if (events.push(event) === count) resolve(events)
  })
  return promise
}

const numbers = (events: StoredEvent[]) => events.map(({ fields }) => fields.number)

forEachDialect((_dialect, open) => {
  test('an event is delivered unchanged after its transaction is committed', async () => {
    await using db = await open()
    await using here = await startProcess(db)
    const heard = hear(here.outbox, 'egg.hatched', 1)
    const event = hatched(1, {
      audience: 'admin',
      visible_to_user_id: 'u1',
      reserved: { fields: { colour: 'blue' }, is_open: false, user_id: 'u1', key_id: null },
      seen_by: { user_ids: ['u1'], emails: ['ann@example.org'], agent_ids: [] },
    })
    await here.append(event)
    assert.deepEqual(await heard, [{ ...event, position: 1, ts: '2026-01-05T08:00:00.000Z' }])
    assert.equal(here.outbox.position(), 1)
  })

  test('an event of a rolled back transaction is never delivered', async () => {
    await using db = await open()
    await using here = await startProcess(db)
    const heard = hear(here.outbox, '*', 1)
    await db
      .atomically(async (tx) => {
        await here.outbox.append(tx, hatched(1), here.clock.now())
        throw new Error('rolled back')
      })
      .catch(() => {})
    await here.append(hatched(2))
    assert.deepEqual(numbers(await heard), [2])
  })

  test('two processes that append concurrently deliver all events in the same order, without gaps', async () => {
    await using db = await open()
    await using otherDb = await db.openAgain()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    await using here = await startProcess(db, { ephemeral })
    await using there = await startProcess(otherDb, { ephemeral })
    const heard = [hear(here.outbox, '*', 200), hear(there.outbox, '*', 200)]
    await Promise.all(Array.from({ length: 200 }, (_, i) => (i % 2 ? here : there).append(hatched(i))))
    const [ownEvents, otherEvents] = await Promise.all(heard)
    assert.deepEqual(
      ownEvents?.map(({ position }) => position),
      Array.from({ length: 200 }, (_, i) => i + 1),
    )
    assert.deepEqual(ownEvents, otherEvents)
  })

  test('events of one transaction keep their order', async () => {
    await using db = await open()
    await using here = await startProcess(db)
    const heard = hear(here.outbox, '*', 20)
    await db.atomically(async (tx) => {
      for (let i = 0; i < 20; i++) await here.outbox.append(tx, hatched(i), here.clock.now())
    })
    assert.deepEqual(
      numbers(await heard),
      Array.from({ length: 20 }, (_, i) => i),
    )
  })

  test('an event that was committed before its process died is delivered by the next process', async () => {
    await using db = await open()
    await using dead = await startProcess(db, { start: false })
    await dead.append(hatched(1))
    const clock = createTestClock()
    const ephemeral = memoryEphemeral({ clock, log: silentLog })
    const outbox = createOutbox({ db, ephemeral, log: silentLog, clock })
    const heard = hear(outbox, '*', 1)
    const relay = await startRelay({ outbox, ephemeral, clock, log: silentLog, random })
    assert.deepEqual(numbers(await heard), [1])
    await relay.stop()
  })

  test('events after a position can be read again; the oldest events are removed', async () => {
    await using db = await open()
    await using here = await startProcess(db)
    const heard = hear(here.outbox, '*', maxStoredEvents + 7)
    await db.atomically(async (tx) => {
      for (let i = 1; i <= maxStoredEvents + 7; i++)
        await here.outbox.append(tx, hatched(i), here.clock.now())
    })
    await heard
    await here.clock.waitingFor(1)
    await here.clock.advance(60)
    await here.clock.waitingFor(1)
    assert.deepEqual(await here.outbox.storedRange(), { oldest: 8, newest: maxStoredEvents + 7 })
    assert.deepEqual(numbers(await here.outbox.after(10, 3)), [11, 12, 13])
  })
})

describe('listeners', () => {
  test('a process that misses the wake-up finds events by polling', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    await using away = await startProcess(db, { start: false })
    await here.clock.waitingFor(1)
    const heard = hear(here.outbox, '*', 1)
    await away.append(hatched(1))
    await here.clock.advance(1)
    assert.deepEqual(numbers(await heard), [1])
  })

  test('another process delivers events from the message, and reads those that the message does not contain', async () => {
    await using db = await openTestDatabase()
    await using otherDb = await db.openAgain()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    await using here = await startProcess(db, { ephemeral })
    await using there = await startProcess(otherDb, { ephemeral })
    const heard = hear(there.outbox, '*', 5)
    const announcements: string[] = []
    await ephemeral.subscribe(eventsTopic, (message) => announcements.push(message))
    const first = hear(there.outbox, '*', 1)
    await here.append(hatched(1))
    await first
    assert.deepEqual(announcements, [`1 ${JSON.stringify(await first)}`])

    // Too long for a message.
    const second = hear(there.outbox, '*', 1)
    await here.append(hatched(2, { fields: { number: 2, text: 'x'.repeat(70_000) } }))
    await second
    assert.equal(announcements.at(-1), '2')

    // Two replicas announce the same and later events, not in order.
    const events = [3, 4, 5].map((position): StoredEvent => ({ ...hatched(position), position, ts: '' }))
    there.outbox.relaying.receive(announcementOf(events.slice(0, 1)))
    there.outbox.relaying.receive(announcementOf(events.slice(0, 2)))
    there.outbox.relaying.receive(announcementOf(events.slice(0, 1)))
    there.outbox.relaying.receive(announcementOf(events.slice(2)))
    assert.deepEqual(numbers(await heard), [1, 2, 3, 4, 5])
  })

  test('a process reads the events before an announcement that arrived too early', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    await using away = await startProcess(db, { start: false })
    const heard = hear(here.outbox, '*', 3)
    for (const number of [1, 2, 3]) await away.append(hatched(number))
    const positioned = await away.outbox.relaying.pass()
    here.outbox.relaying.receive(announcementOf(positioned.slice(2)))
    assert.deepEqual(numbers(await heard), [1, 2, 3])
  })

  test('a failing listener stops neither the others nor its own next event', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    const attempts: unknown[] = []
    here.outbox.on('*', (event) => {
      attempts.push(event.fields.number)
      throw new Error('at once')
    })
    here.outbox.on('*', async () => {
      throw new Error('later')
    })
    const heard = hear(here.outbox, '*', 2)
    await here.append(hatched(1))
    await here.append(hatched(2))
    assert.deepEqual(numbers(await heard), [1, 2])
    assert.deepEqual(attempts, [1, 2])
  })

  test('a slow listener gets one event at a time, in order, and delays no other listener', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    const proceed = Promise.withResolvers<void>()
    const slow: unknown[] = []
    const done = Promise.withResolvers<void>()
    here.outbox.on('*', async (event) => {
      slow.push(event.fields.number)
      await proceed.promise
      if (slow.length === 3) done.resolve()
    })
    const heard = hear(here.outbox, '*', 3)
    for (const number of [1, 2, 3]) await here.append(hatched(number))
    await heard
    assert.deepEqual(slow, [1])
    proceed.resolve()
    await done.promise
    assert.deepEqual(slow, [1, 2, 3])
  })

  test('a listener gets events of its type only, and none after it unsubscribes', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    const heard: unknown[] = []
    const stop = here.outbox.on('egg.laid', (event) => void heard.push(event.fields.number))
    const all = hear(here.outbox, '*', 3)
    const laid = here.outbox.wait('egg.laid', () => true, new AbortController().signal)
    await here.append(hatched(1))
    await here.append(hatched(2, { type: 'egg.laid' }))
    await laid
    stop()
    await here.append(hatched(3, { type: 'egg.laid' }))
    await all
    assert.deepEqual(heard, [2])
  })

  test('wait resolves with the first matching event, or with null when aborted', async () => {
    await using db = await openTestDatabase()
    await using here = await startProcess(db)
    const giveUp = new AbortController()
    const second = here.outbox.wait('egg.hatched', ({ fields }) => fields.number === 2, giveUp.signal)
    const never = here.outbox.wait('egg.hatched', ({ fields }) => fields.number === 9, giveUp.signal)
    await here.append(hatched(1))
    await here.append(hatched(2))
    assert.equal((await second)?.fields.number, 2)
    giveUp.abort()
    assert.equal(await never, null)
    assert.equal(await here.outbox.wait('egg.hatched', () => true, giveUp.signal), null)
  })
})

/** Counts the polls from now on. */
function countPolls({ relaying }: Outbox): { polls: number } {
  const counted = { polls: 0 }
  const { pass } = relaying
  relaying.pass = (options) => {
    if (options?.isPoll !== false) counted.polls += 1
    return pass(options)
  }
  return counted
}

describe('polls', () => {
  test('wait for a second without announced events', async () => {
    await using db = await openTestDatabase()
    await using otherDb = await db.openAgain()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    await using here = await startProcess(db, { ephemeral })
    await using there = await startProcess(otherDb, { ephemeral, start: false })
    const counted = countPolls(there.outbox)
    const relay = await startRelay({
      outbox: there.outbox,
      ephemeral,
      clock: there.clock,
      log: silentLog,
      random,
    })
    await there.clock.waitingFor(1)
    assert.equal(counted.polls, 1)
    for (const number of [1, 2, 3]) {
      const heard = hear(there.outbox, '*', 1)
      await here.append(hatched(number))
      await heard
      await there.clock.advance(0.6)
    }
    assert.equal(counted.polls, 1)
    await using dead = await startProcess(db, { ephemeral, start: false })
    const heard = hear(there.outbox, '*', 1)
    await dead.append(hatched(4))
    await there.clock.advance(0.4)
    assert.deepEqual(numbers(await heard), [4])
    assert.equal(counted.polls, 2)
    await relay.stop()
  })

  test('of one replica put off those of the others', async () => {
    await using db = await openTestDatabase()
    await using otherDb = await db.openAgain()
    const memory = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    const ephemeral = { ...memory, kind: 'redis' as const }
    await using here = await startProcess(db, { ephemeral, follow: true })
    await using there = await startProcess(otherDb, { ephemeral, follow: true })
    // Until its poll, and until it says again that it follows.
    await Promise.all([here.clock.waitingFor(5, 2), there.clock.waitingFor(5, 2)])
    const [ofHere, ofThere] = [countPolls(here.outbox), countPolls(there.outbox)]
    await there.clock.advance(3)
    const announced = Promise.withResolvers<string>()
    await ephemeral.subscribe(eventsTopic, announced.resolve)
    await here.clock.advance(5)
    assert.equal(await announced.promise, '0')
    // Otherwise it would poll now.
    await there.clock.advance(2)
    await there.clock.waitingFor(3)
    assert.deepEqual([ofHere.polls, ofThere.polls], [1, 0])
    await there.clock.advance(3)
    assert.equal(ofThere.polls, 1)
  })

  for (const follow of [true, false])
    test(`are more frequent during an outage of Redis, ${follow ? 'following' : 'quiet'}`, () =>
      pollsInOutage(follow))

  async function pollsInOutage(follow: boolean): Promise<void> {
    await using db = await openTestDatabase()
    const memory = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    let isDown = true
    const ask = async () => {
      if (isDown) throw new Error('no connection')
    }
    const ephemeral = {
      ...memory,
      kind: 'redis' as const,
      ping: ask,
      publish: async (...message: Parameters<typeof memory.publish>) => {
        await ask()
        await memory.publish(...message)
      },
    }
    await using here = await startProcess(db, { ephemeral, follow })
    /** The pauses between the next polls, in seconds. */
    const pauses = async (count: number) => {
      const seen = []
      while (seen.length < count) {
        while (here.clock.waits().length === 0) await nextTurn()
        const seconds = here.clock.waits()[0] ?? 0
        seen.push(Math.round(seconds))
        await here.clock.advance(seconds)
      }
      return seen
    }
    assert.deepEqual((await pauses(4)).slice(1), [1, 1, 1])
    isDown = false
    assert.ok((await pauses(6)).some((seconds) => seconds >= 4))
  }

  test('come at the end of their wait, which a common tick may shorten', async () => {
    await using db = await openTestDatabase()
    const clock = createTestClock()
    const ephemeral = { ...memoryEphemeral({ clock, log: silentLog }), kind: 'redis' as const }
    const outbox = createOutbox({ db, ephemeral, log: silentLog, clock })
    const counted = countPolls(outbox)
    const early = { ...clock, waitAbout: (ms: number, signal?: AbortSignal) => clock.wait(ms / 2, signal) }
    const relay = await startRelay({ outbox, ephemeral, clock: early, log: silentLog, random })
    for (let polls = 1; polls < 4; polls += 1) {
      await clock.waitingFor(2.5)
      assert.equal(counted.polls, polls)
      await clock.advance(2.5)
    }
    await relay.stop()
  })
})

describe('a replica that follows no others', () => {
  /** A pair with shared messages, except on topic `lost`. `heard`: the numbers of the events that `there` delivered. */
  async function openPair({ lost = '' } = {}) {
    const stack = new AsyncDisposableStack()
    const db = stack.use(await openTestDatabase())
    const otherDb = stack.use(await db.openAgain())
    const memory = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    const ephemeral = {
      ...memory,
      kind: 'redis' as const,
      publish: async (topic: string, message: string) => {
        if (topic !== lost) await memory.publish(topic, message)
      },
    }
    const here = stack.use(await startProcess(db, { ephemeral }))
    const there = stack.use(await startProcess(otherDb, { ephemeral }))
    const heard: unknown[] = []
    there.outbox.on('*', ({ fields }) => void heard.push(fields.number))
    const announced: string[] = []
    await ephemeral.subscribe(eventsTopic, (message) => void announced.push(message))
    return {
      ...{ here, there, heard, announced, ephemeral },
      /** Appends an event of `process` that is announced. */
      async append(process: typeof here, number: number, type = 'execution.started') {
        const count = announced.length
        await process.append(hatched(number, { type }))
        await until(() => announced.length > count, 'the event is announced')
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  test('learns of the progress of runs a second later, and before any other event', async () => {
    await using t = await openPair()
    await t.append(t.here, 1)
    await t.append(t.here, 2, 'execution.finished')
    // Its own come in order, too.
    await t.append(t.there, 3)
    await nextTurn()
    assert.deepEqual(t.heard, [])
    await t.here.clock.advance(1)
    await until(() => t.heard.length === 3, 'it reads them')
    await t.append(t.here, 4, 'execution.created')
    await t.append(t.here, 5, 'agent.stopped')
    await until(() => t.heard.length === 5, 'the change is read')
    await t.append(t.here, 6)
    await t.append(t.there, 7, 'agent.started')
    await until(() => t.heard.length === 7, 'an own change is delivered')
    assert.deepEqual(t.heard, [1, 2, 3, 4, 5, 6, 7])
  })

  test('finds that progress by polls if the message about it is lost', async () => {
    await using t = await openPair({ lost: changesTopic })
    await t.there.clock.waitingFor(5)
    await t.append(t.here, 1)
    for (let number = 2; number < 8; number += 1) {
      await t.append(t.there, number)
      await t.there.clock.advance(1)
    }
    await until(() => t.heard.includes(1), 'a poll reads it')
    assert.deepEqual(t.heard, [1, 2, 3, 4, 5, 6, 7].slice(0, t.heard.length))
  })

  test('relays progress once a second while it knows of no follower, and anything else at once', async () => {
    await using t = await openPair()
    await Promise.all([t.here.clock.advance(20), t.there.clock.advance(20)])
    await t.here.append(hatched(1, { type: 'execution.created' }))
    await t.here.append(hatched(2, { type: 'execution.started' }))
    await t.here.clock.waitingFor(1)
    assert.deepEqual(t.announced, [])
    await t.here.clock.advance(1)
    await until(() => t.announced.length === 1, 'both are announced')
    assert.match(t.announced[0] ?? '', /^2 .*execution.created.*execution.started/)
    await t.here.append(hatched(3, { type: 'execution.finished' }))
    await t.append(t.here, 4, 'agent.stopped')
    assert.match(t.announced[1] ?? '', /^4 .*execution.finished.*agent.stopped/)
    await until(() => t.heard.length === 4, 'the other one reads them')
    // A new follower waits for none of it.
    await t.here.append(hatched(5, { type: 'execution.created' }))
    await t.there.outbox.follow()
    await until(() => t.heard.length === 5, 'the pending one is relayed')
    await t.append(t.here, 6)
    await until(() => t.heard.length === 6, 'the next one comes at once')
    assert.deepEqual(t.heard, [1, 2, 3, 4, 5, 6])
  })

  test('stays known to the others while it follows them, and is forgotten some seconds later', async () => {
    await using t = await openPair()
    const unfollow = await t.there.outbox.follow()
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await t.there.clock.advance(5)
      await t.here.clock.advance(5)
    }
    assert.ok(t.here.outbox.relaying.isFollowed())
    const sent: string[] = []
    await t.ephemeral.subscribe('signals', (message) => void sent.push(message))
    const activity = hatched(1, { type: 'agent.activity' })
    t.here.outbox.signal(activity)
    unfollow()
    await t.there.clock.advance(20)
    await t.here.clock.advance(20)
    assert.equal(t.here.outbox.relaying.isFollowed(), false)
    t.here.outbox.signal(activity)
    t.here.outbox.signal(hatched(2))
    await nextTurn()
    assert.deepEqual(
      sent.map((message) => JSON.parse(message).event.fields.number),
      [1, 2],
    )
  })

  test('delivers all earlier events before it follows, and then each at once', async () => {
    await using t = await openPair()
    for (const number of [1, 2]) await t.append(t.here, number)
    const unfollow = await t.there.outbox.follow()
    assert.deepEqual(t.heard, [1, 2])
    const unfollowOther = await t.there.outbox.follow()
    unfollow()
    await t.append(t.here, 3)
    await until(() => t.heard.length === 3, 'the message is heard')
    unfollowOther()
    await nextTurn()
    await t.append(t.here, 4)
    await nextTurn()
    assert.deepEqual(t.heard, [1, 2, 3])
    await t.there.outbox.follow()
    assert.deepEqual(t.heard, [1, 2, 3, 4])
  })
})

describe('signals', () => {
  test('are delivered once to every process, are not stored and have the newest position', async () => {
    await using db = await openTestDatabase()
    await using otherDb = await db.openAgain()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    await using here = await startProcess(db, { ephemeral })
    await using there = await startProcess(otherDb, { ephemeral })
    await there.outbox.follow()
    const first = [hear(here.outbox, '*', 1), hear(there.outbox, '*', 1)]
    await here.append(hatched(1))
    await Promise.all(first)
    const heard = [hear(here.outbox, '*', 2), hear(there.outbox, '*', 2)]
    for (const number of [2, 3]) here.outbox.signal(hatched(number))
    for (const events of await Promise.all(heard)) {
      assert.deepEqual(numbers(events), [2, 3])
      assert.ok(events.every(({ position, signal }) => position === 1 && signal))
    }
    assert.equal((await here.outbox.storedRange()).newest, 1)
  })

  test('reach another process only while one of its features follows them', async () => {
    await using db = await openTestDatabase()
    await using otherDb = await db.openAgain()
    const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
    await using here = await startProcess(db, { ephemeral })
    await using there = await startProcess(otherDb, { ephemeral })
    const heard: StoredEvent[] = []
    there.outbox.on('*', (event) => void heard.push(event))
    const signal = async (number: number) => {
      here.outbox.signal(hatched(number))
      await nextTurn()
    }
    await signal(1)
    const [unfollow, unfollowOther] = [await there.outbox.follow(), await there.outbox.follow()]
    await signal(2)
    unfollow()
    unfollow()
    await signal(3)
    unfollowOther()
    await nextTurn()
    await signal(4)
    const again = await there.outbox.follow()
    await signal(5)
    again()
    assert.deepEqual(numbers(heard), [2, 3, 5])
  })
})
