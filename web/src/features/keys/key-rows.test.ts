import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpKey } from '@roost/contracts/identity/keys'
import { endOf, filterKeys, stateOf } from './key-rows.ts'

const key: McpKey = {
  id: 'k1',
  name: 'CI of the web shop',
  description: 'Runs the nightly checks',
  scope: 'user',
  key_prefix: 'svc_mcp_ab12',
  created_at: '2026-01-01T00:00:00Z',
  expires_at: null,
  is_active: true,
  usage_count: 3,
  user_id: 'u1',
  username: 'ann@example.com',
  last_used_at: null,
  agent_name: null,
  revoked_at: null,
  user_email: null,
}

test('revoked takes precedence over expired', () => {
  assert.equal(stateOf(key), 'active')
  assert.equal(stateOf({ is_active: false, revoked_at: null }), 'expired')
  assert.equal(stateOf({ is_active: false, revoked_at: '2026-02-01T00:00:00Z' }), 'revoked')
})

test('keys are found by name, description, prefix, scope and owner', () => {
  for (const q of ['shop nightly', 'AB12', 'user', 'ann@']) assert.deepEqual(filterKeys([key], q), [key], q)
  assert.deepEqual(filterKeys([key], 'shop weekly'), [])
})

test('an expiry is a number of days from now, the end of a day, or none', () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  assert.equal(endOf({ ends: 'never', day: '' }, now), null)
  assert.equal(endOf({ ends: '7', day: '' }, now), '2026-03-08T12:00:00.000Z')
  assert.equal(endOf({ ends: 'day', day: '2026-03-05' }, now), new Date(2026, 2, 5, 23, 59, 59).toISOString())
})
