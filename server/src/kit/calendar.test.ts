import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastDays, spansBetween } from './calendar.ts'

const at = (text: string) => new Date(text)

test('days of a span across the end of a month and of February', () => {
  assert.deepEqual(spansBetween('day', at('2028-02-28T23:59:59.999Z'), at('2028-03-01T00:00:00.000Z')), [
    '2028-02-28',
    '2028-02-29',
    '2028-03-01',
  ])
})

test('hours of a span across midnight', () => {
  assert.deepEqual(spansBetween('hour', at('2026-01-05T22:30:00.000Z'), at('2026-01-06T01:00:00.000Z')), [
    '2026-01-05T22',
    '2026-01-05T23',
    '2026-01-06T00',
    '2026-01-06T01',
  ])
})

test('a moment touches one unit, and a span that ends before it starts none', () => {
  const noon = at('2026-01-05T12:00:00.000Z')
  assert.deepEqual(spansBetween('hour', noon, noon), ['2026-01-05T12'])
  assert.deepEqual(spansBetween('day', at('2026-01-06T12:00:00.000Z'), noon), [])
})

test('the last seven days end with today', () => {
  const days = lastDays(7, at('2026-01-05T23:59:59.999Z'))
  assert.deepEqual([days.length, days[0], days.at(-1)], [7, '2025-12-30', '2026-01-05'])
})
