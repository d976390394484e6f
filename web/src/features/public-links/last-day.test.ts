import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, endOfDay } from './last-day.ts'

test('converts a day to its end and back', () => {
  for (const day of ['2026-01-01', '2026-12-31', '2028-02-29']) assert.equal(dayOf(endOfDay(day)), day)
  assert.equal(endOfDay(''), null)
  assert.equal(dayOf(null), '')
})
