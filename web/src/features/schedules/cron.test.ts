import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronWords, draftTimes } from './cron.ts'

test('describes an expression in words', () => {
  assert.equal(cronWords('0 3 * * *'), 'At 03:00')
  assert.equal(
    cronWords(' */15 9-17 * * mon-FRI '),
    'Every 15 minutes, between 09:00 and 17:59, Monday through Friday',
  )
  assert.equal(cronWords('0 0 * * 7'), 'At 00:00, only on Sunday')
})

test('an expression that the platform refuses has no description and no times', () => {
  for (const expression of [
    '',
    'every day',
    '@daily',
    '0 0 3 * * *',
    '0 0 L * *',
    '0 0 * * 5#2',
    '99 * * * *',
  ]) {
    assert.equal(cronWords(expression), null, expression)
    assert.deepEqual(draftTimes({ expression, timezone: 'UTC' }, new Date(0), 5), [], expression)
  }
})

test('a draft is due in its own time zone, across the start of summer time', () => {
  const times = draftTimes(
    { expression: '0 9 * * *', timezone: 'Europe/Berlin' },
    new Date('2026-03-27T12:00:00Z'),
    3,
  )
  assert.deepEqual(
    times.map((time) => time.toISOString()),
    ['2026-03-28T08:00:00.000Z', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'],
  )
  assert.deepEqual(draftTimes({ expression: '0 9 * * *', timezone: 'Nowhere/City' }, new Date(0), 3), [])
})
