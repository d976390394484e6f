import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beatWords } from './words.ts'

test('when an agent was last heard is said only of one that runs', () => {
  const row = {
    container_status: 'running',
    heartbeat_state: 'alive',
    last_heartbeat_age_seconds: 5,
  } as const
  assert.equal(beatWords(row), '5 s ago')
  assert.equal(beatWords({ ...row, heartbeat_state: 'stale' }), 'silent, last 5 s ago')
  assert.equal(beatWords({ ...row, heartbeat_state: 'unsupported' }), 'never heard')
  assert.equal(beatWords({ ...row, container_status: 'stopped' }), 'stopped')
})
