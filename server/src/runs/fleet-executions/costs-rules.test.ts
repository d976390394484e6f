import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forecastOf, forecastStarts, periodOf } from './costs-rules.ts'

const now = new Date('2026-04-16T00:00:00.000Z')

test('a period ends today and has 30 days, unless the query says otherwise', () => {
  assert.deepEqual(periodOf({}, now), { from: '2026-03-18', to: '2026-04-16' })
  assert.deepEqual(periodOf({ to: '2026-03-01' }, now), { from: '2026-01-31', to: '2026-03-01' })
  assert.deepEqual(periodOf({ from: '2026-04-16' }, now), { from: '2026-04-16', to: '2026-04-16' })
  assert.throws(() => periodOf({ to: '0000-01-01' }, now), { code: 'validation_error' })
  for (const from of ['2026-04-17', '2025-03-12']) {
    assert.throws(() => periodOf({ from }, now), { code: 'validation_error' }, from)
  }
  assert.deepEqual(periodOf({ from: '2025-03-13' }, now), { from: '2025-03-13', to: '2026-04-16' })
})

test('a forecast starts with the month and a week ago', () => {
  assert.deepEqual(forecastStarts(now), {
    month: '2026-04-01T00:00:00.000Z',
    week: '2026-04-09T00:00:00.000Z',
  })
})

test('the rest of the month costs the average of the last week', () => {
  const totals = { month_micros: 30_000_000, week_micros: 14_000_000, estimated: 0 }
  const forecast = (first_of_week: string | null, over = {}) =>
    forecastOf({ ...totals, first_of_week, ...over }, now)
  assert.deepEqual(forecast('2026-04-09T00:00:00.000Z'), {
    month: '2026-04',
    spent: 30,
    cost_estimated: false,
    daily_average: 2,
    expected: 30 + 15 * 2,
  })
  assert.equal(forecast('2026-04-14T00:00:00.000Z').daily_average, 7, 'a history of two days')
  assert.equal(forecast('2026-04-15T23:00:00.000Z').daily_average, 14, 'a history below a day')
  const nothing = forecast(null, { month_micros: 0, week_micros: 0 })
  assert.deepEqual([nothing.expected, nothing.daily_average], [0, 0])
})
