import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChartPayload, chartOf } from './chart-points.ts'

const english = { language: 'en-GB', timeZone: 'UTC' }
const series = (label: string, points: [string, number][], unit?: string) => ({
  label,
  ...(unit ? { unit } : {}),
  points: points.map(([ts, value]) => ({ ts, value })),
})
const drawn = (payload: ChartPayload) => {
  const { data, series: lines, heading } = chartOf(payload, english)
  return {
    heading,
    lines: lines.map(({ label }) => label),
    rows: data.map(({ label, values }) => [label, ...Object.values(values)]),
  }
}

test('times are sorted, and a missing point leaves a gap in the series', () => {
  const payload: ChartPayload = {
    type: 'line',
    series: [
      series('a', [
        ['2030-01-02', 2],
        ['2030-01-01', 1],
      ]),
      series('b', [['2030-01-02', 5]]),
    ],
  }
  assert.deepEqual(drawn(payload), {
    heading: 'Time',
    lines: ['a', 'b'],
    rows: [
      ['1 Jan', 1, null],
      ['2 Jan', 2, 5],
    ],
  })
})

test('groups keep their order, and ambiguous times keep their original text', () => {
  assert.deepEqual(
    drawn({
      type: 'bar',
      series: [
        series('a', [
          ['z', 1],
          ['b', 2],
        ]),
      ],
    }).rows,
    [
      ['z', 1],
      ['b', 2],
    ],
  )
  const same = ['2030-01-01T00:00:01Z', '2030-01-01T00:00:02Z']
  const { rows } = drawn({
    type: 'bar',
    series: [
      series(
        'a',
        same.map((ts) => [ts, 1]),
      ),
    ],
  })
  assert.deepEqual(
    rows.map(([label]) => label),
    same,
  )
})

test('pie slices are the points of one series or the sums of several', () => {
  const one = drawn({
    type: 'pie',
    series: [
      series('Runs', [
        ['ok', 3],
        ['bad', 1],
      ]),
    ],
  })
  assert.deepEqual(one, { heading: 'Whole', lines: ['ok', 'bad'], rows: [['Runs', 3, 1]] })
  const two = drawn({
    type: 'donut',
    series: [
      series('x', [
        ['a', 1],
        ['b', 2],
      ]),
      series('y', [['a', 4]]),
    ],
  })
  assert.deepEqual(two, { heading: 'Whole', lines: ['x', 'y'], rows: [['Sum', 3, 4]] })
})

test('a common unit follows each number, different units follow the series names', () => {
  const { format } = chartOf({ type: 'bar', series: [series('a', [['x', 1234.56]], 'USD')] }, english)
  assert.equal(format?.(1234.56), '1,234.6 USD')
  const mixed = chartOf({ type: 'bar', series: [series('a', [], 'USD'), series('b', [], 's')] }, english)
  assert.deepEqual(
    mixed.series.map(({ label }) => label),
    ['a (USD)', 'b (s)'],
  )
})
