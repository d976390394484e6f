import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { createSweep } from './sweep.ts'

const never = new AbortController().signal

async function start(stored: number) {
  const db = await openTestDatabase()
  const clock = createTestClock('2026-06-01T00:00:00.000Z')
  const held = { days: 30, isAdmitted: true, isNew: false }
  const observed = { left: stored, batches: [] as number[], befores: new Set<string>() }
  const { alerts, raised } = createTestAlerts()
  const loop = createSweep(
    {
      ...{ db, clock, log: silentLog },
      settings: { value: () => held.days, retention: { admit: async () => held } },
      alerts,
    },
    {
      name: 'things',
      what: 'things',
      key: 'event_retention_days',
      countAll: async () => stored,
      async countBefore(before) {
        observed.befores.add(before)
        return observed.left
      },
      async removeBefore(_before, limit) {
        const count = Math.min(limit, observed.left)
        observed.left -= count
        observed.batches.push(count)
        return count
      },
    },
  )
  return { held, observed, raised, run: () => loop.run(never), [Symbol.asyncDispose]: () => db.close() }
}

test('rows older than the window are removed in small batches', async () => {
  await using it = await start(1_200)
  await it.run()
  assert.deepEqual([...it.observed.befores], ['2026-05-02T00:00:00.000Z'])
  assert.deepEqual(it.observed.batches, [500, 500, 200, 0])
})

test('a window of 0 days keeps everything', async () => {
  await using it = await start(10)
  it.held.days = 0
  await it.run()
  assert.equal(it.observed.left, 10)
})

test('a held sweep removes nothing and raises one alert', async () => {
  await using it = await start(3_000)
  Object.assign(it.held, { isAdmitted: false, isNew: true })
  await it.run()
  it.held.isNew = false
  await it.run()
  assert.equal(it.observed.left, 3_000)
  assert.deepEqual(
    it.raised.map(({ kind, context }) => ({ kind, ...context })),
    [{ kind: 'retention_held', key: 'event_retention_days', rows: 3_000, days: 30 }],
  )
})
