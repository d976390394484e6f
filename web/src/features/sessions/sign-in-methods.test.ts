import assert from 'node:assert/strict'
import { test } from 'node:test'
import { methodOf, offeredMethods } from './sign-in-methods.ts'

const none = { email_auth_enabled: false, public_access_requests_enabled: false }
const all = { email_auth_enabled: true, public_access_requests_enabled: true }

test('shows only the available methods', () => {
  assert.deepEqual(offeredMethods(none), ['password'])
  assert.deepEqual(offeredMethods({ ...none, email_auth_enabled: true }), ['password', 'email'])
  assert.deepEqual(offeredMethods(all), ['password', 'email', 'request'])
})

test('an unavailable method in the address falls back to the password', () => {
  assert.equal(methodOf(none, 'email'), 'password')
  assert.equal(methodOf(all, undefined), 'password')
  assert.equal(methodOf(all, 'request'), 'request')
})
