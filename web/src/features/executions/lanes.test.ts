import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { lanesOf, ticksOf } from './lanes.ts'

const hour = 3_600_000
const from = Date.parse('2026-03-01T00:00:00.000Z')
const axis = { from, to: from + 10 * hour }
const at = (hours: number) => new Date(from + hours * hour).toISOString()
/** Only the fields that are read. */
const run = (part: Partial<ExecutionSummary>) =>
  ({
    agent_name: 'scout',
    status: 'success',
    created_at: at(0),
    started_at: null,
    completed_at: null,
    ...part,
  }) as ExecutionSummary

test('runs are placed by their time, and each agent has a lane', () => {
  const [scout, other] = lanesOf(
    ['scout', 'other'],
    [
      run({ started_at: at(5), completed_at: at(7), status: 'failed' }),
      run({ started_at: at(1), completed_at: at(2) }),
    ],
    axis,
  )
  assert.deepEqual(
    scout?.marks.map(({ left, width }) => [left, Number(width.toFixed(3))]),
    [
      [0.1, 0.1],
      [0.5, 0.2],
    ],
  )
  assert.equal(scout?.failed, 1)
  assert.deepEqual(other?.marks, [])
})

test('a running run reaches the end of the axis; an earlier start is clipped', () => {
  const [lane] = lanesOf(['scout'], [run({ started_at: at(-5), status: 'running' })], axis)
  assert.deepEqual(
    lane?.marks.map(({ left, width }) => [left, width]),
    [[0, 1]],
  )
})

test('a queued run is a point; a run that ended before the axis is omitted', () => {
  const runs = [
    run({ created_at: at(9), status: 'queued' }),
    run({ started_at: at(-3), completed_at: at(-2) }),
  ]
  const [lane] = lanesOf(['scout'], runs, axis)
  assert.deepEqual(
    lane?.marks.map(({ left, width }) => [left, width]),
    [[0.9, 0]],
  )
})

test('ticks are at round hours and fit the axis', () => {
  assert.deepEqual(
    ticksOf(axis, 5).map(({ left }) => left),
    [0, 0.2, 0.4, 0.6, 0.8, 1].slice(0, ticksOf(axis, 5).length),
  )
  assert.ok(ticksOf({ from, to: from + 7 * 24 * hour }, 8).length <= 9)
})
