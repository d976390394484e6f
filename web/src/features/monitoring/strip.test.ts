import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthStatus } from '@roost/contracts/operations/monitoring'
import { changesOf, stripOf } from './strip.ts'

const at = (hour: number, status: HealthStatus) => ({
  checked_at: `2026-05-01T${String(hour).padStart(2, '0')}:00:00.000Z`,
  status,
})

test('each bar shows its worst check', () => {
  const strip = stripOf([at(23, 'healthy'), at(12, 'healthy'), at(12, 'critical'), at(1, 'degraded')], 24)
  assert.equal(strip.length, 24)
  assert.equal(strip[23]?.worst, 'healthy')
  assert.equal(strip[12]?.worst, 'critical')
  assert.equal(strip[1]?.worst, 'degraded')
  assert.equal(strip[22]?.worst, null)
})

test('a check older than a day is omitted', () => {
  const old = { checked_at: '2026-04-28T00:00:00.000Z', status: 'critical' as const }
  assert.ok(stripOf([at(3, 'healthy'), old]).every(({ worst }) => worst !== 'critical'))
})

test('only the first of consecutive equal checks is a change', () => {
  const checks = [at(9, 'healthy'), at(8, 'healthy'), at(7, 'critical'), at(6, 'healthy')]
  assert.deepEqual(
    changesOf(checks).map(({ checked_at, status }) => [checked_at.slice(11, 13), status]),
    [
      ['08', 'healthy'],
      ['07', 'critical'],
      ['06', 'healthy'],
    ],
  )
})
