import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sparklinePoints } from './sparkline-points.ts'

it('runs from the lowest value at the bottom to the highest at the top', () => {
  assert.deepEqual(sparklinePoints([0, 5, 10], 96, 24), [
    [
      [0, 22],
      [48, 12],
      [96, 2],
    ],
  ])
})

it('breaks at missing values', () => {
  const lines = sparklinePoints([1, null, 2, 3, null], 96, 24)
  assert.deepEqual(
    lines.map((line) => line.length),
    [1, 2],
  )
})

it('draws constant values through the middle and nothing without values', () => {
  assert.deepEqual(
    sparklinePoints([4, 4], 96, 24)[0]?.map(([, y]) => y),
    [12, 12],
  )
  assert.deepEqual(sparklinePoints([], 96, 24), [])
})
