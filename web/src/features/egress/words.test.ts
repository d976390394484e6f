import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, canBeAllowed, ruleFor } from './words.ts'

test('one click allows both web ports together, any other port alone', () => {
  assert.deepEqual(ruleFor({ host: 'api.example.com', port: 443 }), { host: 'api.example.com', port: null })
  assert.deepEqual(ruleFor({ host: 'db.example.com', port: 5432 }), { host: 'db.example.com', port: 5432 })
  assert.equal(addressOf({ host: 'a.b', port: null }), 'a.b')
  assert.equal(addressOf({ host: 'a.b', port: 22 }), 'a.b:22')
})

test('destinations that no rule can allow are not offered', () => {
  assert.ok(canBeAllowed({ reason: 'not_listed', is_listed: false }))
  assert.ok(canBeAllowed({ reason: 'learnt', is_listed: false }))
  assert.ok(!canBeAllowed({ reason: 'learnt', is_listed: true }))
  assert.ok(!canBeAllowed({ reason: 'inner_address', is_listed: false }))
})
