import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateReminder } from '@roost/contracts/triggers/reminders'
import { isFault } from '../../kit/fault.ts'
import { fireTime, maxAttempts, retryAfter } from './rules.ts'

const now = new Date('2026-01-05T08:00:00.000Z')
const request = (times: object) => CreateReminder.parse({ message: 'look', ...times })

test('the time, absolute or as a delay, is 60 seconds to 30 days ahead', () => {
  assert.equal(fireTime(request({ delay_seconds: 60 }), now), '2026-01-05T08:01:00.000Z')
  assert.equal(fireTime(request({ fire_at: '2026-01-05T09:01:00+01:00' }), now), '2026-01-05T08:01:00.000Z')
  assert.equal(fireTime(request({ fire_at: '2026-02-04T08:00:00' }), now), '2026-02-04T08:00:00.000Z')
  for (const fire_at of ['2026-01-05T08:00:59Z', '2026-02-04T08:00:01Z', '2020-01-01T00:00:00Z']) {
    assert.throws(
      () => fireTime(request({ fire_at }), now),
      (error) => isFault(error, 'validation_error'),
      fire_at,
    )
  }
})

test('exactly one of time and delay is required', () => {
  for (const times of [{}, { delay_seconds: 60, fire_at: '2026-01-05T09:00:00Z' }, { delay_seconds: 59 }]) {
    assert.equal(CreateReminder.safeParse({ message: 'look', ...times }).success, false)
  }
})

test('the pause doubles after each failed attempt; the fifth attempt is the last', () => {
  const pauses = Array.from({ length: maxAttempts }, (_, index) => retryAfter(index + 1))
  assert.deepEqual(pauses, [60, 120, 240, 480, null])
})
