import assert from 'node:assert/strict'
import { test } from 'node:test'
import { average, percentile, successRate } from './figures.ts'

test('a rate without values is null, not zero', () => {
  assert.deepEqual([successRate(0, 0), successRate(0, 3), successRate(3, 1)], [null, 0, 0.75])
})

test('percentiles are nearest-rank values', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
  assert.deepEqual(
    [0, 50, 95, 99, 100].map((percent) => percentile(hundred, percent)),
    [1, 50, 95, 99, 100],
  )
  assert.deepEqual([percentile([7], 95), percentile([1, 9], 50), percentile([], 50)], [7, 1, null])
})

test('an average without values is null', () => {
  assert.deepEqual([average(0, 0), average(10, 4)], [null, 3])
})
