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
const gone = person({ username: 'zoe@example.com', email: null, suspended_at: '2026-02-01T00:00:00Z' })

test('people are found by every word of name and address, in any case', () => {
  assert.deepEqual(filterPeople([ann, bob], { q: 'LEE example' }), [ann])
  assert.deepEqual(filterPeople([ann, bob], { q: '  ' }), [ann, bob])
  assert.deepEqual(filterPeople([ann, bob], { q: 'nobody' }), [])
})

test('a role picks its people; the suspended are picked whatever their role', () => {
  assert.deepEqual(filterPeople([ann, bob, gone], { role: 'creator' }), [bob])
  assert.deepEqual(filterPeople([ann, bob, gone], { role: 'suspended' }), [gone])
})

test('an address stands beside a name, never beside itself', () => {
  assert.equal(titleOf(ann), 'Ann Lee')
  assert.equal(furtherAddressOf(ann), 'ann@example.com')
  assert.equal(furtherAddressOf(bob), null)
  assert.equal(titleOf(person({ name: '  ' })), 'ann@example.com')
})

test('an account is known by its user name and by its registered address', () => {
  const known = knownAddresses([person({ username: 'admin', email: 'Root@example.com' }), gone])
  assert.deepEqual([...known].sort(), ['admin', 'root@example.com', 'zoe@example.com'])
})
