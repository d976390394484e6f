import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cron as SecondOpinion } from 'croner'
import { parseCron } from './cron.ts'
import { timesBetween } from './next-time.ts'
import { randomCrons, seededRandom } from './test/random-cron.ts'
import { openZone, type Zone } from './zone.ts'

const day = 86_400_000
const comparedTimes = 5
const cases = 1000
const seed = 20_260_329

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Havana',
]

/**
 * Compares random expressions with croner, wherever the rules are the same. Near a clock change they differ:
 * `cron-table.test.ts` has the decisions.
 */
test(`croner agrees on the due times of ${cases} random expressions away from clock changes`, () => {
  const random = seededRandom(seed)
  const opened = new Map(zones.map((name) => [name, openZone(name)]))
  let compared = 0
  for (const { expression, spelledOut } of randomCrons(cases, random)) {
    const timezone = zones[Math.floor(random() * zones.length)] ?? 'UTC'
    const zone = opened.get(timezone)
    assert.ok(zone)
    const after = Date.UTC(2024, 0, 1) + Math.floor(random() * 3 * 365) * day + Math.floor(random() * day)
    const own = ownTimes(expression, zone, after)
    const other = new SecondOpinion(spelledOut, { timezone, mode: '5-part' })
      .nextRuns(comparedTimes, new Date(after))
      .map((time) => time.getTime())
    if ([after, ...own, ...other].some((time) => isNearClockChange(zone, time))) continue
    assert.deepEqual(own.map(shown), other.map(shown), `${expression} in ${timezone} after ${shown(after)}`)
    compared += 1
  }
  assert.ok(compared > cases / 2, `only ${compared} compared`)
})

function ownTimes(expression: string, zone: Zone, after: number): number[] {
  const cron = parseCron(expression)
  if (cron === null) return []
  return timesBetween(cron, zone, { after, until: Number.POSITIVE_INFINITY, maxCount: comparedTimes })
}

function isNearClockChange(zone: Zone, time: number): boolean {
  const offsetAt = (at: number) => zone.localAt(at) - at
  return offsetAt(time - 2 * day) !== offsetAt(time + 2 * day)
}

function shown(time: number): string {
  return new Date(time).toISOString()
}
