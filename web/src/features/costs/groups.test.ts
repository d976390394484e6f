import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartOf, labelOf, limitOf, runsOf } from './groups.ts'

const group = (key: string | null, kind: 'value' | 'none' | 'rest' = 'value') => ({
  ...{ kind, key, label: key ?? 'Other', cost: 1, cost_estimated: false, runs: 1 },
})
const days = { from: '2026-01-01', to: '2026-01-31' }

test('a group leads to its runs, and the group of the others to none', () => {
  assert.deepEqual(runsOf('model', group('opus'), { ...days, agent: 'scout' }), {
    ...days,
    agent: 'scout',
    model: 'opus',
  })
  assert.deepEqual(runsOf('agent', group('rover'), { ...days, agent: 'rover' }), { ...days, agent: 'rover' })
  assert.deepEqual(runsOf('tag', group('', 'none'), days), { ...days, tag: '' })
  assert.equal(runsOf('agent', group(null, 'rest'), days), null)
})

test('the chart has five groups and the others', () => {
  const groups = [...['a', 'b', 'c', 'd', 'e', 'f'].map((key) => group(key)), group(null, 'rest')]
  const by_group = [1, 2, 3, 4, 5, 6, 7]
  const chart = chartOf({ group_by: 'model', groups, days: [{ date: '2026-01-01', cost: 28, by_group }] })
  assert.deepEqual(
    chart.series.map(({ label }) => label),
    ['a', 'b', 'c', 'd', 'e', 'Other'],
  )
  assert.deepEqual(chart.points[0]?.values, { 0: 1, 1: 2, 2: 3, 3: 4, 4: 5, others: 13 })
  const one = chartOf({ group_by: 'model', groups: groups.slice(0, 1), days: [] })
  assert.equal(one.series.length, 1)
})

test('triggers have the words of the list of runs', () => {
  assert.equal(labelOf('trigger', group('fan_out')), 'Fan-out')
  assert.equal(labelOf('model', group('fan_out')), 'fan_out')
})

test('a limit is drawn where it applies to whole bars and does not flatten them', () => {
  const limit = (kind: 'platform' | 'agent', agent_name: string | null, daily_usd: number) => ({
    ...{ kind, agent_name, daily_usd, spent_today_usd: 1, cost_estimated: false },
  })
  const limits = [limit('platform', null, 50), limit('agent', 'scout', 5)]
  const costs = { limits, overlaps: false, days: [{ date: '2026-01-01', cost: 10, by_group: [10] }] }
  assert.deepEqual(limitOf(costs, undefined), { limit: limits[0], isInChart: false })
  assert.deepEqual(limitOf(costs, 'scout'), { limit: limits[1], isInChart: true })
  assert.equal(limitOf(costs, 'rover'), null)
  assert.equal(limitOf({ ...costs, overlaps: true }, undefined), null)
  assert.equal(limitOf({ ...costs, limits: limits.slice(1) }, undefined), null)
})
