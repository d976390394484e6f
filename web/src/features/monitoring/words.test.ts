import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beatWords } from './words.ts'

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
