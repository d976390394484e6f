import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostMisfires } from '@roost/contracts/triggers/schedules'
import { misfiresToFire } from './index.ts'
import { createScheduleTimes, registrationError } from './times.ts'

test('missed due times: the newest, none, or the newest dozen', () => {
  const due = Array.from({ length: 20 }, (_, index) => index)
  assert.deepEqual(misfiresToFire('run_once', due), [19])
  assert.deepEqual(misfiresToFire('skip', due), [])
  assert.deepEqual(misfiresToFire('run_all', due), due.slice(-mostMisfires))
  assert.deepEqual(misfiresToFire('run_all', [1, 2]), [1, 2])
  for (const policy of ['run_once', 'skip', 'run_all'] as const)
    assert.deepEqual(misfiresToFire(policy, []), [])
})

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
