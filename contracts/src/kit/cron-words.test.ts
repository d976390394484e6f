import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cron, parseCron } from './cron.ts'
import { cronWords } from './cron-words.ts'
import { randomCrons, seededRandom } from './test/random-cron.ts'

const table: [expression: string, words: string][] = [
  ['* * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['5/15 * * * *', 'Every 15 minutes starting at minute 5'],
  ['15,45 * * * *', 'At minutes 15 and 45 of every hour'],
  // Eight minutes pass from minute 56 to the next hour, so it is not "every 7 minutes".
  ['*/7 * * * *', 'At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour'],
  ['0 * * * *', 'Every hour'],
  ['5 * * * *', 'At minute 5 of every hour'],
  ['0 */2 * * *', 'Every 2 hours'],
  ['15 1/2 * * *', 'Every 2 hours starting at 01:15'],
  ['30 9-17 * * *', 'Every hour from 09:30 to 17:30, every day'],
  ['0 22-23,0-6 * * *', 'At minute 0 of hours 0 to 6, 22 and 23, every day'],
  ['0 9 * * *', 'At 09:00, every day'],
  ['30 17,9 * * *', 'At 09:30 and 17:30, every day'],
  ['0-20 4 * * *', 'Every minute from 04:00 to 04:20, every day'],
  ['5-12 3,4 * * *', 'At minutes 5 to 12 of every hour from 03:00 to 04:59, every day'],
  ['1,2,4,8,16,32,33 4 * * *', 'At minutes 1, 2, 4, 8, 16, 32 and 33 past 04:00, every day'],
  ['*/15 9-17 * * mon-FRI', 'Every 15 minutes from 09:00 to 17:59, Monday to Friday'],
  ['0 9 1-7 * MON', 'At 09:00, on days 1 to 7 of the month or on Mondays'],
  // Any restricted field counts, even one that names every day.
  ['0 9 */1 * MON', 'At 09:00, every day'],
  ['0 9 * * SUN,6', 'At 09:00, on Saturdays and Sundays'],
  ['0 9 * * 5-7', 'At 09:00, Friday to Sunday'],
  ['0 0 29 2 *', 'At 00:00, on day 29 of the month, in February'],
  ['0 0 1,15 JAN-MAR,12 *', 'At 00:00, on days 1 and 15 of the month, in January to March and December'],
]
for (const [expression, words] of table) {
  test(`${expression}: ${words}`, () => assert.equal(wordsOf(expression), words))
}

test('equal words mean equal due times, for 5,000 random expressions', () => {
  const fields = new Map<string, { expression: string; key: string }>()
  for (const { expression } of randomCrons(5_000, seededRandom(7))) {
    const cron = parseCron(expression)
    if (cron === null) continue
    const key = dueKey(cron)
    const words = cronWords(cron)
    const known = fields.get(words)
    assert.equal(known?.key ?? key, key, `${expression} and ${known?.expression}: ${words}`)
    fields.set(words, { expression, key })
  }
  assert.ok(fields.size > 1000, `${fields.size} different descriptions`)
})

function wordsOf(expression: string): string {
  const cron = parseCron(expression)
  assert.ok(cron, expression)
  return cronWords(cron)
}

/** Every minute of a day and every day of each month and week at which the fields match. */
function dueKey(cron: Cron): string {
  const isEither = cron.restrictsDayOfMonth && cron.restrictsDayOfWeek
  const days = Array.from({ length: 31 }, (_, index) => index + 1).flatMap((date) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const [ofMonth, ofWeek] = [cron.daysOfMonth.has(date), cron.daysOfWeek.has(weekday)]
      return (isEither ? ofMonth || ofWeek : ofMonth && ofWeek) ? 1 : 0
    }),
  )
  const numbers = (values: ReadonlySet<number>) => [...values].sort((one, other) => one - other).join()
  return `${numbers(cron.minutes)}|${numbers(cron.hours)}|${days.join('')}|${numbers(cron.months)}`
}
