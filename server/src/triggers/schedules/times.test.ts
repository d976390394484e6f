import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheduleTimes, registrationError } from './times.ts'

test('what cannot be registered is never due', () => {
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
