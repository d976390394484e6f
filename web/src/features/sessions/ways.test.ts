import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offeredWays, wayOf } from './ways.ts'

const none = { email_auth_enabled: false, public_access_requests_enabled: false }
const all = { email_auth_enabled: true, public_access_requests_enabled: true }

test('shows only the available methods', () => {
  assert.deepEqual(offeredWays(none), ['password'])
  assert.deepEqual(offeredWays({ ...none, email_auth_enabled: true }), ['password', 'email'])
  assert.deepEqual(offeredWays(all), ['password', 'email', 'request'])
})

test('an unavailable method in the address falls back to the password', () => {
  assert.equal(wayOf(none, 'email'), 'password')
  assert.equal(wayOf(all, undefined), 'password')
  assert.equal(wayOf(all, 'request'), 'request')
})
