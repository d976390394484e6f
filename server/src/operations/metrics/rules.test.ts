import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeclaredMetric } from '@roost/contracts/operations/agent-metrics'
import { declaredMetrics, parseValues, viewMetric } from './rules.ts'

const more = { type: 'gauge', warning_threshold: 10, critical_threshold: 20 } as const
const less = { type: 'percentage', warning_threshold: 90, critical_threshold: 50 } as const
const light = {
  type: 'status',
  values: [
    { value: 'up', color: 'green' },
    { value: 'slow', color: 'Orange' },
    { value: 'down', color: 'red' },
    { value: 2, color: null },
  ],
} as const

const cases: [Omit<DeclaredMetric, 'name'>, unknown, unknown, string][] = [
  [{ type: 'counter' }, 7, 7, 'ok'],
  [more, 9, 9, 'ok'],
  [more, 10, 10, 'warning'],
  [more, 20, 20, 'critical'],
  [less, 91, 91, 'ok'],
  [less, 90, 90, 'warning'],
  [less, 50, 50, 'critical'],
  [{ type: 'bytes', critical_threshold: 5 }, 5, 5, 'critical'],
  [{ type: 'duration', warning_threshold: 5 }, 4, 4, 'ok'],
  [{ type: 'gauge' }, 'many', null, 'unknown'],
  [{ type: 'gauge' }, undefined, null, 'unknown'],
  [{ type: 'gauge' }, { a: 1 }, null, 'unknown'],
  [{ ...light, values: [...light.values] }, 'up', 'up', 'ok'],
  [{ ...light, values: [...light.values] }, 'slow', 'slow', 'warning'],
  [{ ...light, values: [...light.values] }, 'down', 'down', 'critical'],
  [{ ...light, values: [...light.values] }, 2, '2', 'ok'],
  [{ ...light, values: [...light.values] }, 'asleep', 'asleep', 'unknown'],
  [{ type: 'status' }, 'x'.repeat(300), 'x'.repeat(200), 'unknown'],
]
for (const [declared, given, value, state] of cases) {
  test(`${declared.type} ${JSON.stringify(given)?.slice(0, 20)} → ${state}`, () => {
    const shown = viewMetric({ name: 'm', ...declared }, given)
    assert.deepEqual(shown, { name: 'm', type: declared.type, label: 'm', unit: null, value, state })
  })
}

test('invalid declarations are ignored, and of duplicate names the first counts', () => {
  const good = { name: 'a', type: 'gauge', label: 'A', unit: 'pieces', description: 'more' }
  const read = declaredMetrics([
    good,
    { ...good, label: 'B' },
    { name: 'b' },
    { name: 'c', type: 'pie' },
    { name: 'd', type: 'gauge', warning_threshold: 'high' },
    null,
    'text',
  ])
  assert.deepEqual(
    read.map(({ name, label, unit }) => [name, label, unit]),
    [['a', 'A', 'pieces']],
  )
})

test('values are a flat map with any keys', () => {
  assert.equal(parseValues('[]'), null)
  assert.equal(parseValues('{"a": '), null)
  assert.equal(parseValues('null'), null)
  assert.equal(parseValues('{"a": 1}')?.get('a'), 1)
  assert.equal(parseValues('{}')?.get('constructor'), undefined)
})
