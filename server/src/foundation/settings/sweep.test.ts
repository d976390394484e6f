import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { createSweep } from './sweep.ts'

const never = new AbortController().signal

async function start(stored: number) {
  const db = await openTestDatabase()
  const clock = createTestClock('2026-06-01T00:00:00.000Z')
  const held = { days: 30, isAdmitted: true, isNew: false }
  const seen = { left: stored, batches: [] as number[], befores: new Set<string>(), alerts: [] as unknown[] }
  const loop = createSweep(
    {
      ...{ db, clock, log: silentLog },
      settings: { value: () => held.days, retention: { admit: async () => held } },
      raiseAlert: async (_tx, { kind, context }) => void seen.alerts.push({ kind, ...context }),
    },
    {
      name: 'things',
      what: 'things',
      key: 'event_retention_days',
      countAll: async () => stored,
      async countBefore(before) {
        seen.befores.add(before)
        return seen.left
      },
      async removeBefore(_before, limit) {
        const gone = Math.min(limit, seen.left)
        seen.left -= gone
        seen.batches.push(gone)
        return gone
      },
    },
  )
  return { held, seen, run: () => loop.run(never), [Symbol.asyncDispose]: () => db.close() }
}

test('what is older than its window goes, a little at a time', async () => {
  await using it = await start(1_200)
  await it.run()
  assert.deepEqual([...it.seen.befores], ['2026-05-02T00:00:00.000Z'])
  assert.deepEqual(it.seen.batches, [500, 500, 200])
})

test('a window of no days keeps all', async () => {
  await using it = await start(10)
  it.held.days = 0
  await it.run()
  assert.equal(it.seen.left, 10)
})

test('a held sweep removes nothing and is told once', async () => {
  await using it = await start(3_000)
  Object.assign(it.held, { isAdmitted: false, isNew: true })
  await it.run()
  it.held.isNew = false
  await it.run()
  assert.equal(it.seen.left, 3_000)
  assert.deepEqual(it.seen.alerts, [
    { kind: 'retention_held', key: 'event_retention_days', rows: 3_000, days: 30 },
  ])
})
