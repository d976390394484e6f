import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentDetails } from '@roost/contracts/agents/agent'
import { warningsOf } from './warnings.ts'

/** Only these fields are read. */
const agent = (part: Partial<AgentDetails>) =>
  ({
    status: 'running',
    heartbeat_state: 'alive',
    last_heartbeat_age_seconds: 2,
    needs_recreate: false,
    circuit_breaker: { enabled: true, open: false },
    ...part,
  }) as AgentDetails

const idsOf = (part: Partial<AgentDetails>) => warningsOf(agent(part)).map(({ id }) => id)

test('a healthy agent has no warnings', () => {
  assert.deepEqual(idsOf({}), [])
  assert.deepEqual(idsOf({ heartbeat_state: 'unsupported', last_heartbeat_age_seconds: null }), [])
})

test('warnings are listed with the most severe first', () => {
  const broken = { circuit_breaker: { enabled: true, open: true }, needs_recreate: true }
  assert.deepEqual(idsOf({ ...broken, heartbeat_state: 'stale' }), ['breaker', 'heartbeat', 'recreate'])
})

test('an agent that is not up is not blamed for its silence', () => {
  assert.deepEqual(idsOf({ status: 'exited', heartbeat_state: 'stale' }), ['exited'])
  assert.deepEqual(idsOf({ status: 'stopped', heartbeat_state: 'stale' }), ['stopped'])
})
