import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beatWords, uptimeWords } from './words.ts'

test('the last heartbeat is shown only for a running agent', () => {
  const row = {
    container_status: 'running',
    heartbeat_state: 'alive',
    last_heartbeat_age_seconds: 5,
  } as const
  assert.equal(beatWords(row), '5 s ago')
  assert.equal(beatWords({ ...row, heartbeat_state: 'stale' }), 'stale, last 5 s ago')
  assert.equal(beatWords({ ...row, heartbeat_state: 'unsupported' }), 'no heartbeat')
  assert.equal(beatWords({ ...row, container_status: 'stopped' }), 'stopped')
})

test('uptime names the time that the checks cover', () => {
  const now = Date.parse('2026-03-08T12:00:00Z')
  const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  assert.equal(uptimeWords(100, ago(6), now), 'Uptime since the first check 6m ago: 100%.')
  assert.equal(uptimeWords(50, ago(0), now), 'Uptime since the first check 1m ago: 50%.')
  assert.equal(uptimeWords(98.5, ago(300), now), 'Uptime since the first check 5h ago: 99%.')
  assert.equal(uptimeWords(100, ago(24 * 60 - 5), now), 'Uptime of the last 24 hours: 100%.')
  assert.equal(uptimeWords(null, ago(6), now), 'Health checks of the last 24 hours.')
  assert.equal(uptimeWords(100, undefined, now), 'Health checks of the last 24 hours.')
})
