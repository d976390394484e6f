import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimezone, parseCron, readCron } from './cron.ts'

test('accepts numbers, names, lists, ranges and steps', () => {
  const cron = parseCron('*/15 9-17 1,15 JAN-MAR mon-Fri')
  assert.deepEqual([...(cron?.minutes ?? [])], [0, 15, 30, 45])
  assert.deepEqual([...(cron?.hours ?? [])], [9, 10, 11, 12, 13, 14, 15, 16, 17])
  assert.deepEqual([...(cron?.daysOfMonth ?? [])], [1, 15])
  assert.deepEqual([...(cron?.months ?? [])], [1, 2, 3])
  assert.deepEqual([...(cron?.daysOfWeek ?? [])], [1, 2, 3, 4, 5])
  assert.equal(cron?.restrictsDayOfMonth, true)
  assert.equal(cron?.restrictsDayOfWeek, true)
})

test('a single value with a step extends to the end of its range', () => {
  assert.deepEqual([...(parseCron('50/4 * * * *')?.minutes ?? [])], [50, 54, 58])
})

test('Sunday is 0 and 7', () => {
  assert.deepEqual([...(parseCron('0 0 * * 7')?.daysOfWeek ?? [])], [0])
  assert.deepEqual([...(parseCron('0 0 * * 5-7')?.daysOfWeek ?? [])], [5, 6, 0])
})

for (const text of [
  '',
  '* * * *',
  '* * * * * *',
  '@daily',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  '* * * * 8',
  '*/0 * * * *',
  '1,,2 * * * *',
  '5-1 * * * *',
  '1-2-3 * * * *',
  '1/2/3 * * * *',
  '-1 * * * *',
  '? * * * *',
  '* * L * *',
  '* * * * MON#2',
  '1.5 * * * *',
  'MON * * * *',
  '0 0 30 2 *',
  '0 0 31 4,6,9,11 *',
  '0x1 * * * *',
]) {
  test(`refuses "${text}"`, () => assert.equal(parseCron(text), null))
}

test('a refusal names the field and its rule', () => {
  const table: [expression: string, message: RegExp][] = [
    ['@daily', /five fields \(minute hour day-of-month month day-of-week\)/],
    ['61 * * * *', /^is not a valid cron expression: its minute is 0 to 59, not 61$/],
    ['0 24 * * *', /its hour is 0 to 23, not 24$/],
    ['0 0 * 13 *', /its month is 1 to 12 or JAN-DEC, not 13$/],
    ['*/0 * * * *', /its minute "\*\/0"/],
    ['0 0 * foo *', /its month "foo" is not .* 1-12 or JAN-DEC/],
    ['0 0 * * FRI-MON', /its day-of-week "FRI-MON" is not .* 0-7 or SUN-SAT/],
    ['0 0 30 2 *', /never comes due/],
    ['x'.repeat(1001), /longer than 1000 characters/],
  ]
  for (const [expression, message] of table) assert.match(String(readCron(expression)), message)
})

test('zones are IANA names and aliases, never offsets', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'US/Eastern',
    'EST5EDT',
    'Etc/GMT+3',
    'America/Argentina/Ushuaia',
  ]) {
    assert.equal(isTimezone(zone), true, zone)
  }
  for (const zone of ['PST', 'ist', 'SystemV/EST5']) assert.equal(isTimezone(zone), false, zone)
  for (const zone of ['', '+02:00', 'Mars/Olympus', 'Europe/', '../etc', 'Z', 'localtime']) {
    assert.equal(isTimezone(zone), false, zone)
  }
})
