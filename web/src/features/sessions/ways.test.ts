import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offeredWays, wayOf } from './ways.ts'

const none = { email_auth_enabled: false, public_access_requests_enabled: false }
const all = { email_auth_enabled: true, public_access_requests_enabled: true }

test('only what the platform offers is shown', () => {
  assert.deepEqual(offeredWays(none), ['password'])
  assert.deepEqual(offeredWays({ ...none, email_auth_enabled: true }), ['password', 'email'])
  assert.deepEqual(offeredWays(all), ['password', 'email', 'request'])
})

test('an address that asks for a way that is not offered leads to the password', () => {
  assert.equal(wayOf(none, 'email'), 'password')
  assert.equal(wayOf(all, undefined), 'password')
  assert.equal(wayOf(all, 'request'), 'request')
})
