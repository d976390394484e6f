import assert from 'node:assert/strict'
import { test } from 'node:test'
import { triggers } from '@roost/contracts/runs/executions'
import {
  bucketLabel,
  bucketNames,
  fillBuckets,
  fleetStats,
  nothingRan,
  sinceOf,
  visibleTo,
  weekStats,
  windowStats,
} from './rules.ts'

const agents = [
  { id: 'a1', ownRunsOnly: false },
  { id: 'a2', ownRunsOnly: true },
]
const now = new Date('2026-01-05T08:30:00.000Z')

test('an admin sees all runs, others those of their agents, a key with less access only its own', () => {
  assert.equal(visibleTo({ isAdmin: true, keyId: null, agents, hidden: [] }), 'all')
  assert.deepEqual(visibleTo({ isAdmin: true, keyId: null, agents, hidden: ['f'] }), { except: ['f'] })
  assert.deepEqual(visibleTo({ isAdmin: false, keyId: null, agents: agents.slice(0, 1), hidden: [] }), {
    agentIds: ['a1'],
    own: null,
  })
  assert.deepEqual(visibleTo({ isAdmin: false, keyId: 'k', agents, hidden: ['f'] }), {
    agentIds: ['a1'],
    own: { agentIds: ['a2'], keyId: 'k' },
  })
})

test('a window of 0 hours covers all time', () => {
  assert.equal(sinceOf(0, now), null)
  assert.equal(sinceOf(24, now), '2026-01-04T08:30:00.000Z')
})

test('the success rate counts successes and failures only; cost is in dollars', () => {
  const ran = {
    total: 9,
    success: 3,
    failed: 1,
    cancelled: 2,
    skipped: 3,
    cost_micros: 1_500_000,
    cost_estimated: 1,
  }
  const live = { running: 3, queued: 2 }
  assert.deepEqual(fleetStats(ran, live, 24), {
    total: 9,
    success_count: 3,
    failed_count: 1,
    cancelled_count: 2,
    skipped_count: 3,
    running_count: 3,
    queued_count: 2,
    total_cost: 1.5,
    cost_estimated: true,
    success_rate: 0.75,
    hours: 24,
  })
  assert.equal(windowStats(nothingRan).success_rate, null)
  assert.deepEqual(weekStats(ran), {
    task_count_7d: 9,
    success_count_7d: 3,
    failed_count_7d: 1,
    success_rate_7d: 0.75,
    total_cost_7d: 1.5,
    cost_estimated_7d: true,
  })
})

test('missing buckets are filled in order, and unknown ones follow', () => {
  const counted = [
    { bucket: 'x', total: 1, success: 1, failed: 0, cost_micros: 500_000, cost_estimated: 1 },
    { bucket: 'b', total: 2, success: 0, failed: 1, cost_micros: 0, cost_estimated: 0 },
    { bucket: 'x', total: 2, success: 0, failed: 2, cost_micros: 250_000, cost_estimated: 0 },
  ]
  assert.deepEqual(fillBuckets(['a', 'b'], counted), [
    { bucket: 'a', total: 0, success: 0, failed: 0, cost: 0, cost_estimated: false },
    { bucket: 'b', total: 2, success: 0, failed: 1, cost: 0, cost_estimated: false },
    { bucket: 'x', total: 3, success: 1, failed: 2, cost: 0.75, cost_estimated: true },
  ])
})

test('bucket names cover hours or days up to now, or every trigger; without runs only the current one', () => {
  const from = new Date('2026-01-05T06:59:59.000Z')
  assert.deepEqual(bucketNames('hour', { from, to: now }), [
    '2026-01-05T06',
    '2026-01-05T07',
    '2026-01-05T08',
  ])
  assert.deepEqual(bucketNames('day', { from: null, to: now }), ['2026-01-05'])
  assert.deepEqual(bucketNames('trigger', { from, to: now }), [...triggers])
})

test('an hour is labelled with a timestamp, a day with its date', () => {
  assert.equal(bucketLabel('hour', '2026-01-05T08'), '2026-01-05T08:00:00.000Z')
  assert.equal(bucketLabel('day', '2026-01-05'), '2026-01-05')
})
