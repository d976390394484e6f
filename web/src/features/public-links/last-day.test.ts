import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, endOfDay } from './last-day.ts'

test('a day goes to its end and comes back as it was', () => {
  for (const day of ['2026-01-01', '2026-12-31', '2028-02-29']) assert.equal(dayOf(endOfDay(day)), day)
  assert.equal(endOfDay(''), null)
  assert.equal(dayOf(null), '')
})
