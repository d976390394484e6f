import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp } from '../../kit/clock.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { fireStore } from '../fires/index.ts'
import { createPrefetch } from './prefetch.ts'
import { startSimulation } from './test/simulation.ts'

async function startBefore(time: string, crons: readonly string[]) {
  const db = await openTestDatabase()
  const simulation = startSimulation(db, { zone: 'UTC', crons, start: new Date(time), seed: 1 })
  await simulation.begin()
  await simulation.claimAhead()
  const open = async () => (await fireStore(db).open()).map(({ schedule_id }) => schedule_id).sort()
  return {
    ...simulation,
    open,
    fired: () => [...simulation.made.keys()].sort(),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

const nine = '0 9 * * *'

test('a group of fires is claimed before its due time, and fires when it is due', async () => {
  await using world = await startBefore('2026-01-05T08:59:58.000Z', [nine, nine, '5 9 * * *'])
  assert.deepEqual(await world.open(), ['s0', 's1'])
  await world.fireDue()
  assert.deepEqual(world.fired(), [])
  await world.clock.advance(2)
  await world.fireDue()
  assert.deepEqual(world.fired(), ['s0 2026-01-05T09:00:00.000Z', 's1 2026-01-05T09:00:00.000Z'])
  assert.deepEqual(await world.open(), [])
})

test('nothing is claimed long before its due time', async () => {
  await using world = await startBefore('2026-01-05T08:59:50.000Z', [nine, nine])
  assert.deepEqual(await world.open(), [])
})

test('a schedule that changes between its claim and its time leaves no claim and no run', async () => {
  await using world = await startBefore('2026-01-05T08:59:58.000Z', [nine, nine])
  const [schedule] = world.schedules
  if (!schedule) throw new Error('There is no schedule.')
  world.schedules.push({ ...schedule, cron_expression: '0 10 * * *', position: world.schedules.length + 1 })
  await world.readChanges()
  await world.clock.advance(2)
  await world.fireDue()
  assert.deepEqual(world.fired(), ['s1 2026-01-05T09:00:00.000Z'])
  assert.deepEqual(await world.open(), [])
})

test('after a long delay, the plan for missed times decides', async () => {
  await using world = await startBefore('2026-01-05T08:59:58.000Z', ['* * * * *', '* * * * *'])
  await world.clock.advance(150)
  await world.fireDue()
  assert.deepEqual(world.fired(), ['s0 2026-01-05T09:02:00.000Z', 's1 2026-01-05T09:02:00.000Z'])
  const rows = await fireStore(world.db).list('s0', 10)
  assert.deepEqual(
    rows.map(({ due_at, reason }) => [due_at, reason]),
    [
      ['2026-01-05T09:02:00.000Z', null],
      ['2026-01-05T09:01:00.000Z', 'coalesced'],
      ['2026-01-05T09:00:00.000Z', 'coalesced'],
    ],
  )
})

test('a clock that is set back releases the claims, and they are claimed again', async () => {
  await using world = await startBefore('2026-01-05T08:59:58.000Z', [nine, nine])
  world.clock.set(new Date('2026-01-05T08:57:58.000Z'))
  await world.fireDue()
  assert.deepEqual(await world.open(), [])
  await world.clock.advance(122)
  await world.fireDue()
  assert.deepEqual(world.fired(), ['s0 2026-01-05T09:00:00.000Z', 's1 2026-01-05T09:00:00.000Z'])
})

test('the next leader releases the claims that a dead one made ahead', async () => {
  await using world = await startBefore('2026-01-05T08:59:58.000Z', [nine, nine])
  world.kill()
  await world.begin()
  assert.deepEqual(await world.open(), [])
  await world.clock.advance(2)
  await world.fireDue()
  assert.equal(world.fired().length, 2)
})

test('a claim that a replaced leader made and never sent is delivered by the present one', async () => {
  await using world = await startBefore('2026-01-05T08:59:50.000Z', [nine])
  const [due_at, recorded_at] = ['2026-01-05T09:00:00.000Z', '2026-01-05T08:59:58.000Z']
  const claim = { schedule_id: 's0', due_at, agent_id: 'a1', is_catch_up: 0, recorded_at }
  await fireStore(world.db).insertNew([{ ...claim, outcome: null, reason: null, execution_id: null }])
  await world.clock.advance(10)
  await world.fireDue()
  await world.sendForgotten()
  assert.deepEqual([world.fired(), await world.open()], [[], ['s0']])
  await world.clock.advance(5)
  await world.sendForgotten()
  await world.sendForgotten()
  assert.deepEqual([...world.made], [['s0 2026-01-05T09:00:00.000Z', 1]])
  assert.deepEqual(await world.open(), [])
})

test('a fire that was delivered ahead is not claimed again, neither ahead nor when it is due', async () => {
  await using db = await openTestDatabase()
  const clock = createTestClock('2026-01-05T08:59:58.000Z')
  const store = fireStore(db)
  const claims: number[] = []
  const dueAt = Date.parse('2026-01-05T09:00:00.000Z')
  const timing = { cron_expression: '0 9 * * *', timezone: 'UTC', misfire_policy: 'run_once' } as const
  const schedules = ['s0', 's1'].map((id) => ({ id, agent_id: 'a1', ...timing }))
  const ahead = createPrefetch({
    clock,
    store: {
      ...store,
      insertNew(rows) {
        claims.push(rows.length)
        return store.insertNew(rows)
      },
    },
    timetable: { nextAt: () => dueAt, dueNext: () => schedules, isPresent: () => true },
    rowOf: ({ id, agent_id }) => ({
      schedule_id: id,
      due_at: timestamp(new Date(dueAt)),
      agent_id,
      is_catch_up: 0,
      outcome: null,
      reason: null,
      execution_id: null,
      recorded_at: timestamp(clock.now()),
    }),
    minFires: 2,
  })
  await ahead.claim()
  await clock.advance(1.7)
  const rows = await ahead.take()
  assert.equal(rows.length, 2)
  await ahead.claim()
  assert.deepEqual([claims, await ahead.take()], [[2], []])
  assert.ok(rows.every(ahead.isDelivered))
})
