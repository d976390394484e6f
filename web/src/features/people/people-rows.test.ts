import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedUser } from '@roost/contracts/identity/people'
import { filterPeople, furtherAddressOf, knownAddresses, titleOf } from './people-rows.ts'

const person = (part: Partial<ManagedUser>): ManagedUser => ({
  id: part.username ?? 'id',
  username: 'ann@example.com',
  email: 'ann@example.com',
  name: null,
  picture: null,
  role: 'user',
  mfa_enrolled: false,
  created_at: '2026-01-01T00:00:00Z',
  last_login_at: null,
  suspended_at: null,
  ...part,
})
const ann = person({ name: 'Ann Lee' })
const bob = person({ username: 'bob@example.com', email: 'bob@example.com', role: 'creator' })
const suspended = person({ username: 'zoe@example.com', email: null, suspended_at: '2026-02-01T00:00:00Z' })

test('every word must match the name or address, ignoring case', () => {
  assert.deepEqual(filterPeople([ann, bob], { q: 'LEE example' }), [ann])
  assert.deepEqual(filterPeople([ann, bob], { q: '  ' }), [ann, bob])
  assert.deepEqual(filterPeople([ann, bob], { q: 'nobody' }), [])
})

test('filters by role; “suspended” matches every role', () => {
  assert.deepEqual(filterPeople([ann, bob, suspended], { role: 'creator' }), [bob])
  assert.deepEqual(filterPeople([ann, bob, suspended], { role: 'suspended' }), [suspended])
})

test('an address is shown beside a name, not beside itself', () => {
  assert.equal(titleOf(ann), 'Ann Lee')
  assert.equal(furtherAddressOf(ann), 'ann@example.com')
  assert.equal(furtherAddressOf(bob), null)
  assert.equal(titleOf(person({ name: '  ' })), 'ann@example.com')
})

test('an account is identified by its user name and its registered address', () => {
  const known = knownAddresses([person({ username: 'admin', email: 'Root@example.com' }), suspended])
  assert.deepEqual([...known].sort(), ['admin', 'root@example.com', 'zoe@example.com'])
})
