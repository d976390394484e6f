import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busiestOf, stripOf } from './hours.ts'

const hour = (clock: string, total: number, success: number, failed: number) => ({
  ...{ bucket: `2026-01-05T${clock}:00:00.000Z`, total, success, failed },
})

test('failed runs are below the base line, all others above, on one scale', () => {
  const { hours, base, ...sums } = stripOf([hour('01', 6, 5, 0), hour('02', 0, 0, 0), hour('03', 4, 1, 2)])
  assert.equal(base, 2 / 8)
  assert.deepEqual(
    hours.map(({ above, below }) => [above, below]),
    [
      [6 / 8, 0],
      [0, 0],
      [2 / 8, 2 / 8],
    ],
  )
  assert.equal(hours[0]?.at, Date.parse('2026-01-05T01:00:00.000Z'))
  assert.deepEqual(sums, { total: 10, succeeded: 6, failed: 2, other: 2 })
})

test('a day without runs has no bars', () => {
  const strip = stripOf([hour('01', 0, 0, 0)])
  assert.deepEqual([strip.base, strip.hours[0]?.above, strip.hours[0]?.below, strip.total], [0, 0, 0, 0])
})

test('only agents that ran are listed, the busiest first', () => {
  const agents = [
    { name: 'rover', task_count: 2 },
    { name: 'idle', task_count: 0 },
    { name: 'scout', task_count: 9 },
    { name: 'lander', task_count: 2 },
  ]
  assert.deepEqual(
    busiestOf(agents).map(({ name }) => name),
    ['scout', 'lander', 'rover'],
  )
})
