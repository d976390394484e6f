import assert from 'node:assert/strict'
import { test } from 'node:test'
import { platformBudget, usedBudgets, utcDayOf } from './budgets.ts'

const limit = (agent_name: string | null, spent_today_usd: number, daily_usd = 10) => ({
  ...{ kind: agent_name === null ? ('platform' as const) : ('agent' as const), agent_name },
  ...{ spent_today_usd, daily_usd, cost_estimated: false },
})

test('agents at or near their spend cap are listed', () => {
  const limits = [limit('over', 12), limit(null, 10), limit('at', 10), limit('near', 8), limit('far', 7.9)]
  assert.deepEqual(
    usedBudgets(limits).map(({ agent, isOver }) => [agent, isOver]),
    [
      ['over', true],
      ['at', true],
      ['near', false],
    ],
  )
})

test('a spend cap of 0 is used up', () => {
  assert.equal(usedBudgets([limit('none', 0, 0)])[0]?.isOver, true)
})

test('the daily limit of the platform has a tone', () => {
  const toneAt = (spent: number) => platformBudget([limit('over', 12), limit(null, spent)])?.tone
  assert.deepEqual([toneAt(7), toneAt(8), toneAt(10)], ['neutral', 'warning', 'danger'])
  assert.equal(platformBudget([limit('over', 12)]), null)
})

test('the day of a cost is in UTC', () => {
  assert.equal(utcDayOf(Date.parse('2026-03-01T00:30:00+01:00')), '2026-02-28')
})
