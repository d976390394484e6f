import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MisfirePolicy } from '@roost/contracts/triggers/schedules'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import { planOf } from './rules.ts'

const times = createScheduleTimes()

function plan(cron_expression: string, policy: MisfirePolicy, span: { after: string; now: string }) {
  const next = (after: number) =>
    times.next({ cron_expression, timezone: 'UTC' }, new Date(after))?.getTime() ?? null
  const { fire, missed } = planOf(policy, next, { after: Date.parse(span.after), now: Date.parse(span.now) })
  return {
    fire: fire.map(({ dueAt }) => new Date(dueAt).toISOString().slice(11, 16)),
    missed: missed.map(({ dueAt, reason }) => `${new Date(dueAt).toISOString().slice(11, 16)} ${reason}`),
  }
}
const day = (clock: string) => `2026-01-05T${clock}Z`

test('a time that is due now fires, whatever the policy', () => {
  for (const policy of ['run_once', 'skip', 'run_all'] as const) {
    const span = { after: day('08:00:00'), now: day('09:00:30') }
    assert.deepEqual(plan('0 9 * * *', policy, span), { fire: ['09:00'], missed: [] })
  }
})

test('run_once fires the newest time within the grace, and coalesces the others', () => {
  assert.deepEqual(plan('*/15 * * * *', 'run_once', { after: day('08:00:00'), now: day('08:50:00') }), {
    fire: ['08:45'],
    missed: ['08:15 coalesced', '08:30 coalesced'],
  })
})

test('run_all fires all times within the grace; skip fires none that is late', () => {
  const span = { after: day('08:00:00'), now: day('08:50:00') }
  assert.deepEqual(plan('*/15 * * * *', 'run_all', span), { fire: ['08:15', '08:30', '08:45'], missed: [] })
  assert.deepEqual(plan('*/15 * * * *', 'skip', span), {
    fire: [],
    missed: ['08:15 misfire_policy_skip', '08:30 misfire_policy_skip', '08:45 misfire_policy_skip'],
  })
})

test('a delay of exactly one hour is within the grace, a millisecond more is not', () => {
  const after = day('08:00:00')
  assert.deepEqual(plan('0 9 * * *', 'run_once', { after, now: day('10:00:00.000') }).fire, ['09:00'])
  assert.deepEqual(plan('0 9 * * *', 'run_once', { after, now: day('10:00:00.001') }), {
    fire: [],
    missed: ['09:00 outside_grace'],
  })
})

test('a long period beyond the grace leaves one record with a count and the first time', () => {
  assert.deepEqual(plan('0 * * * *', 'run_once', { after: day('00:00:00'), now: day('05:30:00') }), {
    fire: ['05:00'],
    missed: ['04:00 outside_grace: 4 fires since 2026-01-05T01:00:00.000Z'],
  })
  const year = plan('* * * * *', 'skip', { after: '2025-01-05T00:00:00Z', now: day('05:00:30') })
  assert.equal(year.missed[0], '04:00 outside_grace: at least 100 fires since 2025-01-05T00:01:00.000Z')
  assert.deepEqual(year.fire, ['05:00'])
})
