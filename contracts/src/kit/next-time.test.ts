import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCron } from './cron.ts'
import { nextTime, timesBetween } from './next-time.ts'
import { openZone } from './zone.ts'

function next(expression: string, zone: string, after: string): string | null {
  const cron = parseCron(expression)
  assert.ok(cron, expression)
  const time = nextTime(cron, openZone(zone), Date.parse(after))
  return time === null ? null : new Date(time).toISOString().replace(':00.000Z', 'Z')
}

const cases: [string, string, string, string, string | null][] = [
  ['a fixed time', '0 9 * * *', 'UTC', '2026-01-05T08:59:59.999Z', '2026-01-05T09:00Z'],
  ['the same time on the next day', '0 9 * * *', 'UTC', '2026-01-05T09:00:00Z', '2026-01-06T09:00Z'],
  ['a time in its zone', '0 9 * * *', 'Asia/Kolkata', '2026-01-05T00:00:00Z', '2026-01-05T03:30Z'],
  ['an alias of a zone', '0 9 * * *', 'US/Pacific', '2026-01-05T00:00:00Z', '2026-01-05T17:00Z'],
  ['weekdays', '0 9 * * MON-FRI', 'UTC', '2026-01-02T10:00:00Z', '2026-01-05T09:00Z'],
  ['a day of the month or of the week', '0 0 13 * FRI', 'UTC', '2026-01-09T00:00:00Z', '2026-01-13T00:00Z'],
  ['the leap day', '0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', '2104-02-29T00:00Z'],
  ['an unsorted list', '30,0 12,3 * * *', 'UTC', '2026-01-01T03:30:00Z', '2026-01-01T12:00Z'],
  // Berlin: 02:00 → 03:00 on 29 March 2026, 03:00 → 02:00 on 25 October 2026.
  ['a skipped time', '30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00Z'],
  [
    'the day after a skipped time',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-29T01:00:00Z',
    '2026-03-30T00:30Z',
  ],
  ['the first time after the gap', '0 3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00Z'],
  ['a repeated time', '30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30Z'],
  ['a repeated time only once', '30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30Z'],
  // Lord Howe changes by half an hour; Havana and Santiago change at midnight.
  ['a gap of half an hour', '15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T15:30Z'],
  ['a skipped midnight', '0 0 * * *', 'America/Havana', '2026-03-07T12:00:00Z', '2026-03-08T05:00Z'],
  ['a repeated midnight', '30 23 * * *', 'America/Santiago', '2026-04-04T12:00:00Z', '2026-04-05T02:30Z'],
]
for (const [title, expression, zone, after, expected] of cases) {
  test(`${title}: ${expression} in ${zone}`, () => assert.equal(next(expression, zone, after), expected))
}

test('several skipped times of one gap are due once', () => {
  const cron = parseCron('*/10 * * * *')
  assert.ok(cron)
  const times = timesBetween(cron, openZone('Europe/Berlin'), {
    after: Date.parse('2026-03-29T00:40:00Z'),
    until: Date.parse('2026-03-29T01:20:00Z'),
    maxCount: 100,
  })
  assert.deepEqual(
    times.map((time) => new Date(time).toISOString().slice(11, 16)),
    ['00:50', '01:00', '01:10', '01:20'],
  )
})

/** Berlin around both clock changes: expression, start time, and the following due times in UTC. */
const changing: [string, string, string[]][] = [
  // 02:00 to 02:59 occur twice, from 00:00Z and from 01:00Z. Each is due at its first occurrence.
  ['* * * * *', '2026-10-25T00:58:00Z', ['00:59', '02:00', '02:01']],
  ['*/15 * * * *', '2026-10-25T00:20:00Z', ['00:30', '00:45', '02:00', '02:15']],
  ['0 * * * *', '2026-10-24T22:30:00Z', ['23:00', '00:00', '02:00', '03:00']],
  ['30 2 * * *', '2026-10-24T20:00:00Z', ['00:30', '01:30']],
  // 02:00 to 02:59 are skipped at 01:00Z.
  ['* * * * *', '2026-03-29T00:58:00Z', ['00:59', '01:00', '01:01']],
  ['*/15 * * * *', '2026-03-29T00:40:00Z', ['00:45', '01:00', '01:15']],
  ['30 2 * * *', '2026-03-28T20:00:00Z', ['01:00', '00:30']],
]
for (const [expression, after, expected] of changing) {
  test(`around a clock change: ${expression} from ${after}`, () => {
    const cron = parseCron(expression)
    assert.ok(cron)
    const span = { after: Date.parse(after), until: Number.POSITIVE_INFINITY, maxCount: expected.length }
    const times = timesBetween(cron, openZone('Europe/Berlin'), span)
    assert.deepEqual(
      times.map((time) => new Date(time).toISOString().slice(11, 16)),
      expected,
    )
  })
}

test('times increase through a whole year in zones with unusual clock changes', () => {
  const cron = parseCron('*/30 * * * *')
  assert.ok(cron)
  for (const name of ['Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Africa/Casablanca']) {
    const zone = openZone(name)
    let last = Date.parse('2026-01-01T00:00:00Z')
    for (let fires = 0; fires < 5000; fires += 1) {
      const time = nextTime(cron, zone, last)
      assert.ok(time !== null && time > last)
      // The longest gap is the repeated hour.
      assert.ok(time - last <= 90 * 60_000, `${name}: ${new Date(last).toISOString()}`)
      last = time
    }
  }
})
