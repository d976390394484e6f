import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCost, formatDuration } from '../../lib/format.ts'
import { axisTicks, valuesOf } from './axis-ticks.ts'
import { isAlone } from './chart-data.ts'

test('ticks are equally spaced round numbers from 0 to just above the highest value', () => {
  const table: [values: number[], ticks: number[]][] = [
    [[28], [0, 10, 20, 30]],
    [
      [0, 7, 14],
      [0, 5, 10, 15],
    ],
    [[1], [0, 1]],
    [[3], [0, 1, 2, 3]],
    [[0.22], [0, 0.1, 0.2, 0.3]],
    [
      [0.22, 0.05, 0],
      [0, 0.1, 0.2, 0.3],
    ],
    [[0.0042], [0, 0.002, 0.004, 0.006]],
    [[9.5], [0, 2.5, 5, 7.5, 10]],
    [[122.73], [0, 50, 100, 150]],
    [[1_234_567], [0, 500_000, 1_000_000, 1_500_000]],
    [
      [-3, 5],
      [-4, -2, 0, 2, 4, 6],
    ],
    [[-0.3], [-0.3, -0.2, -0.1, 0]],
    [[0], [0, 1]],
    [[], [0, 1]],
  ]
  for (const [values, ticks] of table) assert.deepEqual(axisTicks(values), ticks, String(values))
})

test('for any highest value there are 2 to 6 ticks, and the last one is the first at or above it', () => {
  for (let power = -4; power < 7; power += 1) {
    for (let digits = 10; digits < 100; digits += 1) {
      const high = digits * 10 ** power
      const ticks = axisTicks([high])
      assert.ok(ticks.length >= 2 && ticks.length <= 6, `${high}: ${ticks}`)
      assert.ok((ticks.at(-1) ?? 0) >= high * 0.999999 && (ticks.at(-2) ?? 0) < high, `${high}: ${ticks}`)
      const [first = 0, second = 0] = ticks
      for (const [index, tick] of ticks.entries())
        assert.ok(Math.abs(tick - first - index * (second - first)) < second * 1e-9, `${high}: ${ticks}`)
    }
  }
})

test('labels of costs and durations are round', () => {
  assert.deepEqual(axisTicks([0.22]).map(formatCost), ['$0.00', '$0.10', '$0.20', '$0.30'])
  const durations: [ms: number, labels: string[]][] = [
    [840, ['0 ms', '250 ms', '500 ms', '750 ms', '1 s']],
    [12_000, ['0 ms', '5 s', '10 s', '15 s']],
    [100_000, ['0 ms', '30 s', '1m', '1m 30s', '2m']],
    [3_000_000, ['0 ms', '15m', '30m', '45m', '1h']],
    [200_000_000, ['0 ms', '1d', '2d', '3d']],
  ]
  for (const [ms, labels] of durations)
    assert.deepEqual(axisTicks([ms], 'duration').map(formatDuration), labels, String(ms))
})

test('the axis of stacked bars covers the sum of a point, the others its highest value', () => {
  const data = [
    { label: 'Mon', values: { a: 2, b: 3 } },
    { label: 'Tue', values: { a: 4, b: null } },
  ]
  const series = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ]
  assert.deepEqual(valuesOf({ data, series }), [2, 3, 4])
  assert.deepEqual(valuesOf({ data, series }, true), [5, 4])
})

test('a value between unknown ones is alone: no line reaches it, so it needs a dot', () => {
  const data = [null, 5, null, 2, 3].map((value, at) => ({ label: `Day ${at}`, values: { a: value } }))
  assert.deepEqual(
    data.map((_, index) => isAlone(data, 'a', index)),
    [false, true, false, false, false],
  )
  assert.equal(isAlone([{ label: 'Day 1', values: { a: 0 } }], 'a', 0), true)
})
