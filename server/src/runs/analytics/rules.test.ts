import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RunBucket, runBuckets } from '@roost/contracts/runs/analytics'
import { type Trigger, triggers } from '@roost/contracts/runs/executions'
import { analyticsOf, type DayCount, sampleLimit, tokenStatsOf } from './rules.ts'

const counted = (over: Partial<DayCount> = {}): DayCount => ({
  day: '2026-01-05',
  status: 'success',
  triggered_by: 'manual',
  total: 1,
  cost_micros: 0,
  cost_estimated: 0,
  timed: 0,
  duration_ms: 0,
  with_context: 0,
  context_used: 0,
  ...over,
})
const days = ['2026-01-04', '2026-01-05']

test('every trigger has its bucket', () => {
  const bucketOf = (triggered_by: Trigger) =>
    analyticsOf('7d', [], [counted({ triggered_by })], []).by_type.find(({ total }) => total === 1)?.bucket
  const expected: Record<RunBucket, Trigger[]> = {
    chats_tasks: ['manual', 'chat', 'session', 'workspace'],
    mcp: ['mcp'],
    channels: ['slack'],
    public: ['public', 'paid'],
    scheduled: ['schedule', 'webhook', 'retry'],
    agents: ['agent', 'self_task', 'fan_out'],
    voice: ['voice', 'voip'],
    loops: ['loop'],
    reminders: ['reminder'],
    other: ['event', 'validation', 'operator_response', 'playbook'],
  }
  for (const bucket of runBuckets) {
    assert.deepEqual(
      triggers.filter((trigger) => bucketOf(trigger) === bucket).sort(),
      expected[bucket].sort(),
      bucket,
    )
  }
})

test('without runs every figure is zero or null, and no day is missing', () => {
  assert.deepEqual(analyticsOf('14d', days, [], []), {
    window: '14d',
    window_hours: 336,
    total_executions: 0,
    success_count: 0,
    failed_count: 0,
    cancelled_count: 0,
    skipped_count: 0,
    success_rate: null,
    duration_ms: { avg: null, p50: null, p95: null },
    cost_total: 0,
    cost_estimated: false,
    context_avg: null,
    by_type: runBuckets.map((bucket) => ({ bucket, total: 0 })),
    timeline: days.map((date) => ({
      date,
      total: 0,
      success: 0,
      failed: 0,
      success_rate: null,
      duration_avg_ms: null,
      cost: 0,
      cost_estimated: false,
      by_type: {},
    })),
    sampled: false,
    sample_size: 0,
  })
})

test('days add up to the total; durations count successful runs, averages only runs with a value', () => {
  const counts = [
    counted({
      day: '2026-01-04',
      total: 3,
      timed: 2,
      duration_ms: 300,
      cost_micros: 500_000,
      cost_estimated: 1,
    }),
    counted({ day: '2026-01-04', status: 'failed', triggered_by: 'loop', timed: 1, duration_ms: 90_000 }),
    counted({ total: 2, timed: 1, duration_ms: 600, with_context: 2, context_used: 3_001 }),
    counted({ status: 'cancelled' }),
    counted({ status: 'skipped', triggered_by: 'schedule' }),
    counted({ status: 'running' }),
  ]
  const reply = analyticsOf('7d', days, counts, [600, 100, 200])
  assert.deepEqual(
    [reply.total_executions, reply.success_count, reply.failed_count, reply.cancelled_count],
    [9, 5, 1, 1],
  )
  assert.deepEqual([reply.skipped_count, reply.success_rate, reply.cost_total], [1, 5 / 6, 0.5])
  assert.deepEqual(reply.duration_ms, { avg: 300, p50: 200, p95: 600 })
  assert.equal(reply.context_avg, 1501)
  const [first, second] = reply.timeline
  assert.deepEqual(first, {
    date: '2026-01-04',
    total: 4,
    success: 3,
    failed: 1,
    success_rate: 0.75,
    duration_avg_ms: 150,
    cost: 0.5,
    cost_estimated: true,
    by_type: { chats_tasks: 3, loops: 1 },
  })
  assert.deepEqual([reply.cost_estimated, second?.cost_estimated], [true, false])
  assert.deepEqual(second?.by_type, { chats_tasks: 4, scheduled: 1 })
})

test('percentiles use the newest 5,000 runs and are marked as sampled when there are more', () => {
  const newest = Array.from({ length: sampleLimit }, (_, index) => index + 1)
  const whole = analyticsOf('30d', [], [], newest)
  assert.deepEqual([whole.sampled, whole.sample_size, whole.duration_ms.p95], [false, 5_000, 4_750])
  const more = analyticsOf('30d', [], [], [...newest, 9_999_999])
  assert.deepEqual([more.sampled, more.sample_size, more.duration_ms.p95], [true, 5_000, 4_750])
})

test('tokens of days without runs are zero, cost is in dollars, and estimates are marked', () => {
  const used = { input_tokens: 10, output_tokens: 2, cost_micros: 1_250_000, cost_estimated: 1 }
  const daily = [{ day: '2026-01-05', ...used }]
  const figures = { lifetime: used, lastDay: used, lastWeek: used, daily }
  assert.deepEqual(tokenStatsOf('scout', days, figures).daily, [
    { date: '2026-01-04', input_tokens: 0, output_tokens: 0, cost: 0, cost_estimated: false },
    { date: '2026-01-05', input_tokens: 10, output_tokens: 2, cost: 1.25, cost_estimated: true },
  ])
})
