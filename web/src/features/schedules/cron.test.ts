import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronError, cronWords, draftTimes } from './cron.ts'

test('describes an expression in words', () => {
  assert.equal(cronWords('0 3 * * *'), 'At 03:00, every day')
  assert.equal(cronWords(' */15 9-17 * * mon-FRI '), 'Every 15 minutes from 09:00 to 17:59, Monday to Friday')
  assert.equal(cronWords('0 0 * * 7'), 'At 00:00, on Sundays')
})

test('an expression that the platform refuses has a reason, but no description and no times', () => {
  const refused: [expression: string, reason: RegExp][] = [
    ['', /^Enter a cron expression with five fields\.$/],
    ['every day', /^“every day” is not a cron expression of five fields/],
    ['@daily', /five fields/],
    ['0 0 3 * * *', /five fields/],
    ['0 0 L * *', /its day-of-month "L"/],
    ['0 0 * * 5#2', /its day-of-week "5#2"/],
    ['99 * * * *', /its minute is 0 to 59, not 99/],
    ['0 0 30 2 *', /never comes due/],
  ]
  for (const [expression, reason] of refused) {
    assert.match(cronError(expression) ?? '', reason)
    assert.equal(cronWords(expression), null, expression)
    assert.deepEqual(timesOf(expression, 'UTC', '1970-01-01T00:00:00Z'), [], expression)
  }
  assert.equal(cronError('0 9 * * *'), null)
})

test('a draft is due in its own time zone, across the start of summer time', () => {
  assert.deepEqual(timesOf('0 9 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z'), [
    '2026-03-28T08:00:00.000Z',
    '2026-03-29T07:00:00.000Z',
    '2026-03-30T07:00:00.000Z',
  ])
  assert.deepEqual(timesOf('0 9 * * *', 'Nowhere/City', '1970-01-01T00:00:00Z'), [])
})

test('a step after a single value is due from that value to the end of the hour', () => {
  assert.equal(cronWords('5/15 * * * *'), 'Every 15 minutes starting at minute 5')
  assert.deepEqual(timesOf('5/15 * * * *', 'UTC', '2026-01-01T00:20:00Z'), [
    '2026-01-01T00:35:00.000Z',
    '2026-01-01T00:50:00.000Z',
    '2026-01-01T01:05:00.000Z',
  ])
})

test('the repeated hour at the end of summer time is listed once', () => {
  // Berlin shows 02:00 to 02:59 from 00:00Z and again from 01:00Z.
  assert.deepEqual(timesOf('30 * * * *', 'Europe/Berlin', '2026-10-24T23:45:00Z'), [
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T02:30:00.000Z',
    '2026-10-25T03:30:00.000Z',
  ])
})

test('two restricted day fields are described and due as "or"', () => {
  assert.equal(cronWords('0 9 1-7 * MON'), 'At 09:00, on days 1 to 7 of the month or on Mondays')
  // 7 January 2026 is a Wednesday, 12 and 19 January are Mondays.
  assert.deepEqual(timesOf('0 9 1-7 * MON', 'UTC', '2026-01-06T12:00:00Z'), [
    '2026-01-07T09:00:00.000Z',
    '2026-01-12T09:00:00.000Z',
    '2026-01-19T09:00:00.000Z',
  ])
})

function timesOf(expression: string, timezone: string, after: string): string[] {
  return draftTimes({ expression, timezone }, new Date(after), 3).map((time) => time.toISOString())
}
