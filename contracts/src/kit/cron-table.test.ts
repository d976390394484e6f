import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Cron as SecondOpinion } from 'croner'
import { isTimezone, parseCron } from './cron.ts'
import { nextTime } from './next-time.ts'
import {
  aliases,
  type CronCase,
  changes,
  cronCases,
  decided,
  impossible,
  spelledOut,
} from './test/cron-cases.ts'
import { openZone } from './zone.ts'

const compared = 6

function ownTimes({ expression, zone, from }: CronCase, count = compared): string[] {
  const cron = parseCron(expression)
  assert.ok(cron, expression)
  const opened = openZone(zone)
  const times: string[] = []
  let time: number | null = Date.parse(from)
  while (times.length < count) {
    time = nextTime(cron, opened, time)
    if (time === null) break
    times.push(shown(new Date(time)))
  }
  return times
}

function otherTimes({ expression, zone, from }: CronCase): string[] {
  const cron = new SecondOpinion(spelledOut[expression] ?? expression, { timezone: zone, mode: '5-part' })
  return cron.nextRuns(compared, new Date(from)).map(shown)
}

const shown = (time: Date) => time.toISOString().replace(':00.000Z', 'Z')
const keyOf = ({ expression, zone, from }: CronCase) => `${expression} in ${zone} from ${from}`
const decisions = new Map(decided.map((decision) => [keyOf(decision), decision]))

describe('due times', () => {
  for (const each of cronCases) {
    const decision = decisions.get(keyOf(each))
    if (decision) {
      test(`${keyOf(each)}: expected times recorded in the table`, () => {
        assert.deepEqual(ownTimes(each, decision.times.length), decision.times, decision.why)
        assert.notDeepEqual(otherTimes(each), ownTimes(each), 'the libraries agree, so no decision is needed')
      })
    } else {
      test(`${keyOf(each)}: two libraries agree`, () => assert.deepEqual(ownTimes(each), otherTimes(each)))
    }
  }
})

test('the table has at least 300 different cases, and every decision belongs to one', () => {
  const keys = new Set(cronCases.map(keyOf))
  assert.equal(keys.size, cronCases.length)
  assert.ok(keys.size >= 300, `${keys.size}`)
  for (const key of decisions.keys()) assert.ok(keys.has(key), key)
  assert.ok(changes.length >= 5)
})

for (const expression of impossible) {
  test(`"${expression}" never comes due and is refused`, () => {
    assert.equal(parseCron(expression), null)
    assert.equal(new SecondOpinion(expression, { timezone: 'UTC', mode: '5-part' }).nextRun(), null)
  })
}

test('old zone names are accepted', () => {
  for (const zone of aliases) assert.equal(isTimezone(zone), true, zone)
})

test('a day that a zone skipped is due at the first instant after it', () => {
  const skipped = { expression: '0 12 * * *', zone: 'Pacific/Apia', from: '2011-12-29T23:00:00Z' }
  assert.deepEqual(ownTimes(skipped, 3), ['2011-12-30T10:00Z', '2011-12-30T22:00Z', '2011-12-31T22:00Z'])
})
