import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLeases, type Leases } from '../foundation/leases/index.ts'
import { silentLog } from '../ports/log.ts'
import { createTestClock, type TestClock } from '../test/clock.ts'
import { openTestDatabase } from '../test/dialects.ts'
import { type Loop, type LoopPlace, startLoops } from './loops.ts'

const noJitter = () => 0.5
const places = { engine: async () => 'engine-a', history: async () => 'history-a' }

/** A loop that reports the start of each run. */
function countedLoop(
  name: string,
  work: (signal: AbortSignal) => Promise<void> = async () => {},
): Loop & { runs: number; next: Next } {
  const waiting: (() => void)[] = []
  const loop = {
    name,
    everySeconds: 10,
    runs: 0,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
    run(signal: AbortSignal) {
      loop.runs += 1
      for (const resolve of waiting.splice(0)) resolve()
      return work(signal)
    },
  }
  return loop
}
type Next = () => Promise<void>

/** `refused` resolves when another process holds a lease that was requested. */
function watched(leases: Leases): { leases: Leases; refused: Promise<void> } {
  const { promise: refused, resolve } = Promise.withResolvers<void>()
  const take: Leases['take'] = async (...request) => {
    const lease = await leases.take(...request)
    if (lease === null) resolve()
    return lease
  }
  return { leases: { ...leases, take }, refused }
}

async function advanceTo(clock: TestClock, event: Promise<void>, seconds = 10): Promise<void> {
  await clock.advance(seconds)
  await event
}

test('a loop runs repeatedly until it is stopped', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const loop = countedLoop('sweep')
  const leases = createLeases({ db, clock })
  const loops = startLoops({
    loops: [loop],
    leases,
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await advanceTo(clock, loop.next(), 1)
  await clock.waitingFor(10)
  await advanceTo(clock, loop.next())
  await clock.waitingFor(10)
  await loops.stop()
  const { runs } = loop
  await clock.advance(100)
  assert.equal(loop.runs, runs)
})

test('one of two processes runs the loop; the other takes over immediately when it stops', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const [ownLoop, otherLoop] = [countedLoop('sweep'), countedLoop('sweep')]
  const other = watched(leases)
  const start = (loop: Loop, holder: string, ownLeases: Leases) =>
    startLoops({
      ...{ loops: [loop], leases: ownLeases, clock, log: silentLog, holder, places },
      random: noJitter,
    })
  const first = start(ownLoop, 'one', leases)
  await advanceTo(clock, ownLoop.next(), 1)
  await clock.waitingFor(10)
  const second = start(otherLoop, 'other', other.leases)
  await advanceTo(clock, other.refused, 1)
  await advanceTo(clock, ownLoop.next(), 9)
  await clock.waitingFor(10)
  assert.equal(otherLoop.runs, 0)
  const takenOver = otherLoop.next()
  await first.stop()
  await advanceTo(clock, takenOver, 20)
  await second.stop()
})

test('a loop that runs everywhere needs no lease', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  await leases.take('sample', 'somebody else', 1_000)
  const loop = { ...countedLoop('sample'), everywhere: true }
  const ran = Promise.withResolvers<void>()
  const loops = startLoops({
    loops: [{ ...loop, run: async () => ran.resolve() }],
    leases,
    clock,
    log: silentLog,
    holder: 'one',
    places,
  })
  await advanceTo(clock, ran.promise)
  await loops.stop()
})

test('a loop without open work runs less often', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  let isIdle = true
  const loop = countedLoop('sweep')
  const loops = startLoops({
    loops: [{ ...loop, everywhere: true, idleSeconds: 40, run: answer }],
    ...{ leases: createLeases({ db, clock }), clock, log: silentLog, holder: 'one', places },
    random: noJitter,
  })
  async function answer(signal: AbortSignal) {
    await loop.run(signal)
    return isIdle ? 'idle' : 'busy'
  }
  await advanceTo(clock, loop.next(), 1)
  await clock.waitingFor(40)
  isIdle = false
  await advanceTo(clock, loop.next(), 40)
  await clock.waitingFor(10)
  await loops.stop()
})

test('a failing loop is retried with growing delays', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const at: number[] = []
  const loop = countedLoop('sweep', async () => {
    at.push(clock.now().getTime() / 1000)
    throw new Error('no luck')
  })
  const leases = createLeases({ db, clock })
  const errors: unknown[] = []
  const log = { ...silentLog, error: (fields: Record<string, unknown>) => void errors.push(fields.loop) }
  const loops = startLoops({ loops: [loop], leases, clock, log, holder: 'one', places, random: noJitter })
  await advanceTo(clock, loop.next(), 1)
  for (const pause of [20, 40, 80]) {
    await clock.waitingFor(pause)
    await advanceTo(clock, loop.next(), pause)
  }
  await clock.waitingFor(160)
  await loops.stop()
  const gaps = at.slice(1).map((time, index) => Math.round(time - (at[index] ?? 0)))
  assert.deepEqual(gaps, [20, 40, 80])
  assert.deepEqual(errors, ['sweep', 'sweep', 'sweep', 'sweep'])
})

test('a run is aborted at its deadline', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const aborted = Promise.withResolvers<void>()
  const loop = countedLoop('sweep', async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    aborted.resolve()
  })
  const leases = createLeases({ db, clock })
  // Without a lease, which could be lost first.
  const loops = startLoops({
    loops: [{ ...loop, everywhere: true }],
    ...{ leases, clock, log: silentLog, holder: 'one', places, random: noJitter },
  })
  await advanceTo(clock, loop.next(), 1)
  await clock.waitingFor(30)
  await advanceTo(clock, aborted.promise, 30)
  await loops.stop()
})

test('a run is aborted when its lease is lost', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const aborted = Promise.withResolvers<void>()
  const loop = countedLoop('sweep', async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    aborted.resolve()
  })
  const leases = createLeases({ db, clock })
  const loops = startLoops({
    loops: [loop],
    leases,
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await advanceTo(clock, loop.next(), 1)
  // The machine was suspended, so the lease expired and another process acquired it.
  clock.set(new Date(clock.now().getTime() + 20_000))
  assert.ok(await leases.take('sweep', 'somebody else', 60))
  await advanceTo(clock, aborted.promise, 1)
  await loops.stop()
})

test('a loop that runs once an hour follows a dead process within 15 seconds', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const loop = Object.assign(countedLoop('sweep'), { everySeconds: 3600 })
  // The other process renewed its lease and was killed right afterwards.
  assert.ok(await leases.take('sweep', 'killed', 9))
  const own = watched(leases)
  const began = clock.now().getTime()
  const ran = loop.next()
  const loops = startLoops({
    loops: [loop],
    leases: own.leases,
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await clock.waitingFor(1)
  await advanceTo(clock, own.refused, 1)
  await clock.advance(4)
  await clock.waitingFor(5)
  assert.equal(loop.runs, 0)
  await clock.advance(5)
  await ran
  assert.equal(clock.now().getTime() - began, 10_000)
  await loops.stop()
})

test('an outage of the database that is shorter than a lease ends no run', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  let isDown = false
  let isAborted = false
  const loop = countedLoop('sweep', async (signal) => {
    await clock.wait(3_600_000, signal)
    isAborted = true
  })
  const loops = startLoops({
    loops: [loop],
    leases: {
      ...leases,
      async renewAll(...request) {
        if (isDown) throw new Error('The database is down.')
        return leases.renewAll(...request)
      },
    },
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await advanceTo(clock, loop.next(), 1)
  await clock.waitingFor(3)
  isDown = true
  await clock.advance(3)
  for (let seconds = 4; seconds < 8; seconds += 1) {
    await clock.waitingFor(1)
    await clock.advance(1)
  }
  isDown = false
  await clock.waitingFor(1)
  await clock.advance(1)
  await clock.waitingFor(3)
  assert.equal(isAborted, false)
  assert.equal(await leases.take('sweep', 'two', 9), null)
  await loops.stop()
})

test('a process that was frozen starts no run under a lease that expired meanwhile', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const loop = countedLoop('sweep')
  const loops = startLoops({
    loops: [loop],
    leases,
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await advanceTo(clock, loop.next(), 1)
  await clock.waitingFor(10)
  clock.set(new Date(clock.now().getTime() + 20_000))
  assert.ok(await leases.take('sweep', 'somebody else', 60))
  // All waits are over, also those of the loop and of the renewal.
  await clock.advance(0)
  await clock.waitingFor(5)
  await leases.held()
  assert.equal(loop.runs, 1)
  await loops.stop()
})

test('a run ends when its process was frozen during the renewal of its lease', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const loop = countedLoop('sweep', (signal) => clock.wait(3_600_000, signal).then(end))
  const renewed = Promise.withResolvers<void>()
  const frozen = {
    ...leases,
    async renewAll(holder: string, seconds: number) {
      const own = await leases.renewAll(holder, seconds)
      clock.set(new Date(clock.now().getTime() + 20_000))
      renewed.resolve()
      return own
    },
  }
  const loops = startLoops({
    loops: [loop],
    leases: frozen,
    clock,
    log: silentLog,
    holder: 'one',
    places,
    random: noJitter,
  })
  await advanceTo(clock, loop.next(), 1)
  await advanceTo(clock, renewed.promise, 2)
  await ended
  await loops.stop()
})

for (const place of ['engine', 'history'] as const)
  test(`a loop per ${place} runs once for each ${place}`, () => runsPerPlace(place))

async function runsPerPlace(place: LoopPlace): Promise<void> {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const start = (id: string, holder: string) => {
    const loop = Object.assign(countedLoop('repair'), { per: place })
    const ran = loop.next()
    const own = watched(leases)
    const loops = startLoops({
      ...{ loops: [loop], leases: own.leases, clock, log: silentLog, holder, random: noJitter },
      places: { ...places, [place]: async () => id },
    })
    return { loop, ran, loops, refused: own.refused }
  }
  const started = [start('a', 'one'), start('b', 'two'), start('a', 'three')]
  await clock.waitingFor(1, 3)
  await clock.advance(1)
  await Promise.all([started[0]?.ran, started[1]?.ran, started[2]?.refused])
  await clock.waitingFor(10, 2)
  assert.deepEqual(
    started.map(({ loop }) => loop.runs),
    [1, 1, 0],
  )
  assert.deepEqual(
    (await leases.held()).map(({ name, holder }) => [name, holder]),
    [
      ['repair@a', 'one'],
      ['repair@b', 'two'],
    ],
  )
  for (const { loops } of started) await loops.stop()
}

test('two loops with the same name are refused', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock()
  const leases = createLeases({ db, clock })
  const twins = [countedLoop('sweep'), countedLoop('sweep')]
  assert.throws(
    () => startLoops({ loops: twins, leases, clock, log: silentLog, holder: 'one', places }),
    /named sweep/,
  )
})
