import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectiveTimeout, isBounded, judgeExpired, metricsOf, pick, placeLines } from './rules.ts'

test('runs that the platform starts do not count against the queue limit', () => {
  for (const trigger of ['schedule', 'retry', 'loop', 'reminder', 'validation'] as const) {
    assert.equal(isBounded(trigger), false, trigger)
  }
  for (const trigger of [
    'manual',
    'chat',
    'session',
    'agent',
    'self_task',
    'fan_out',
    'event',
    'webhook',
  ] as const) {
    assert.equal(isBounded(trigger), true, trigger)
  }
})

test("a missing timeout and one above the agent's cap become the cap", () => {
  assert.equal(effectiveTimeout(null, 3600), 3600)
  assert.equal(effectiveTimeout(undefined, 3600), 3600)
  assert.equal(effectiveTimeout(7200, 3600), 3600)
  assert.equal(effectiveTimeout(10, 3600), 10)
})

const waiting = (...rows: [string, string | null][]) => rows.map(([id, serial_key]) => ({ id, serial_key }))

test('runs are picked in order, one per free slot', () => {
  const rows = waiting(['a', null], ['b', null], ['c', null])
  assert.deepEqual(pick(rows, [], 2), ['a', 'b'])
  assert.deepEqual(pick(rows, [], 0), [])
  assert.deepEqual(pick(rows, [], 9), ['a', 'b', 'c'])
})

test('only the first turn of a conversation is picked, and none while one is running', () => {
  const rows = waiting(['a1', 'A'], ['a2', 'A'], ['b1', 'B'], ['t', null], ['b2', 'B'])
  assert.deepEqual(pick(rows, [], 9), ['a1', 'b1', 't'])
  assert.deepEqual(pick(rows, ['A', null], 9), ['b1', 't'])
  assert.deepEqual(pick(rows, ['A', 'B'], 9), ['t'])
})

test('lines: new ones are appended, known ones skipped, none after a gap', () => {
  assert.deepEqual(placeLines(1, 3, 0), { kind: 'append', skip: 0 })
  assert.deepEqual(placeLines(4, 2, 3), { kind: 'append', skip: 0 })
  assert.deepEqual(placeLines(1, 5, 3), { kind: 'append', skip: 3 })
  assert.deepEqual(placeLines(1, 3, 3), { kind: 'nothing' })
  assert.deepEqual(placeLines(2, 0, 5), { kind: 'nothing' })
  assert.deepEqual(placeLines(1, 0, 0), { kind: 'nothing' })
  assert.deepEqual(placeLines(5, 1, 3), { kind: 'gap' })
  assert.deepEqual(placeLines(2, 1, 0), { kind: 'gap' })
})

const startedAt = new Date('2026-01-05T08:00:00.000Z')
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000)
const expired = { startedAt, timeoutSeconds: 600, now: after(70) }

test('the verdict on a run with an expired lease', () => {
  const cases: [boolean, boolean, boolean, number, string][] = [
    // spawned, linked, container running, seconds since the claim
    [true, true, true, 70, 'lost'],
    [false, true, true, 70, 'requeue'],
    [true, false, true, 70, 'leave'],
    [false, false, true, 70, 'leave'],
    [true, false, true, 899, 'leave'],
    [true, false, true, 900, 'overdue'],
    [false, false, true, 900, 'leave'],
    [true, false, false, 70, 'lost'],
    [false, false, false, 70, 'leave'],
    [false, false, false, 900, 'leave'],
    [false, false, false, 24 * 3600 - 1, 'leave'],
    [false, false, true, 24 * 3600, 'forgotten'],
    [false, true, true, 24 * 3600, 'requeue'],
  ]
  for (const [isSpawned, isLinked, isContainerRunning, seconds, verdict] of cases) {
    const run = { ...expired, isSpawned, isLinked, isContainerRunning, now: after(seconds) }
    assert.equal(judgeExpired(run), verdict, JSON.stringify(run))
  }
})

test("the broker's figures are kept; the result adds only what the broker cannot see", () => {
  const metadata = { cost_usd: 0.5, input_tokens: 10, output_tokens: 5, num_turns: 2, context_tokens: 40 }
  assert.deepEqual(metricsOf(metadata, false), {
    num_turns: 2,
    compact_events: null,
    context_used: 40,
    cost_micros: 500_000,
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_tokens: null,
    cache_read_tokens: null,
  })
  assert.deepEqual(metricsOf(metadata, true), { num_turns: 2, compact_events: null, context_used: 40 })
  assert.deepEqual(metricsOf({}, true), { num_turns: null, compact_events: null })
})
