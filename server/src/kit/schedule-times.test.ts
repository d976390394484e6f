import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheduleTimes, registrationError } from './schedule-times.ts'

test('a schedule that cannot be registered is never due', () => {
  const times = createScheduleTimes()
  const now = new Date('2026-01-01T00:00:00Z')
  for (const [cron_expression, timezone, error] of [
    ['nonsense', 'UTC', 'Invalid cron expression'],
    ['0 0 30 2 *', 'UTC', 'Invalid cron expression'],
    ['* * * * *', 'Moon/Base', 'Invalid timezone'],
  ] as const) {
    const schedule = { cron_expression, timezone }
    assert.equal(registrationError(schedule), error)
    assert.equal(times.next(schedule, now), null)
    assert.deepEqual(times.upcoming(schedule, now, 3), [])
  }
  assert.equal(registrationError({ cron_expression: '* * * * *', timezone: 'GB' }), null)
})

test('the cache of an expression changes no result, in any order of calls', () => {
  const remembering = createScheduleTimes()
  const start = Date.parse('2026-10-24T23:30:00Z')
  for (const cron_expression of ['* * * * *', '*/20 0-4 * * *', '30 2 * * *']) {
    for (const timezone of ['UTC', 'Europe/Berlin']) {
      // Alternates around the repeated local hour.
      for (let step = 0; step < 200; step += 1) {
        const after = new Date(start + ((step * 37) % 300) * 61_000)
        const schedule = { cron_expression, timezone }
        const fresh = createScheduleTimes().next(schedule, after)
        assert.deepEqual(
          remembering.next(schedule, after),
          fresh,
          `${cron_expression} ${after.toISOString()}`,
        )
      }
    }
  }
})
