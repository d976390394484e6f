import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyScope, Role } from '@roost/contracts/kit/access'
import { anonymous, type Caller, type Relation } from '../../identity/access/index.ts'
import { mayWrite, relationOf } from './rules.ts'

const agent = { id: 'a1', owner_id: 'owner', shares: [{ email: 'ben@example.com' }] }
const user = (id: string, role: Role = 'user', email: string | null = null) => ({
  id,
  username: id,
  email,
  role,
})
const session = (of: ReturnType<typeof user>): Caller => ({
  kind: 'session',
  user: of,
  session: { jti: 'j', mode: 'email', expires_at: '' },
})
const key = (of: ReturnType<typeof user>, scope: KeyScope, agent_id: string | null = null): Caller => ({
  kind: 'key',
  user: of,
  key: { id: 'k', name: 'k', scope, agent_id },
})
const none = new Set<string>()

const cases: [string, Caller, Set<string>, Relation | null][] = [
  ['an anonymous caller', anonymous, none, null],
  ['the owner', session(user('owner')), none, 'owner'],
  ['the owner, who is also an admin', session(user('owner', 'admin')), none, 'owner'],
  ['an admin', session(user('x', 'admin')), none, 'admin'],
  ['a person without access', session(user('x', 'creator', 'x@example.com')), none, null],
  ['a person without access or address', session(user('x')), none, null],
  ['shared, with the address in capitals', session(user('ben', 'user', 'BEN@Example.com')), none, 'shared'],
  ['a user key of the owner', key(user('owner'), 'user'), none, 'owner'],
  [
    'a user key of a person it is shared with',
    key(user('b', 'user', 'ben@example.com'), 'user'),
    none,
    'shared',
  ],
  ['the system key', key(user('x', 'admin'), 'system'), none, 'admin'],
  ['an ops key of an admin', key(user('x', 'admin'), 'ops'), none, 'admin'],
  ['its own key', key(user('owner'), 'agent', 'a1'), none, 'self'],
  ['a permitted agent', key(user('y'), 'agent', 'a2'), new Set(['a1']), 'permitted'],
  [
    'another agent of the owner, even if the owner is an admin',
    key(user('owner', 'admin'), 'agent', 'a2'),
    none,
    null,
  ],
  ['its connector', key(user('owner'), 'connector', 'a1'), none, 'shared'],
  ['a connector of another agent', key(user('owner'), 'connector', 'a2'), none, null],
]
for (const [title, caller, permitted, expected] of cases) {
  test(`${title} → ${expected ?? 'no access'}`, () => {
    assert.equal(relationOf(caller, agent, permitted), expected)
  })
}

test('of the people whom an agent is shared with, those with the access write change its files', () => {
  const shared = (access: 'read' | 'write') => ({ shares: [{ email: 'ben@example.com', access }] })
  const ben = session(user('ben', 'user', 'BEN@example.com'))
  assert.equal(mayWrite(ben, shared('write'), 'shared'), true)
  assert.equal(mayWrite(ben, shared('read'), 'shared'), false)
  assert.equal(mayWrite(session(user('x')), shared('write'), 'shared'), false)
  assert.equal(mayWrite(key(user('owner'), 'connector', 'a1'), shared('read'), 'shared'), true)
  for (const relation of ['owner', 'admin', 'self'] as const)
    assert.equal(mayWrite(ben, shared('read'), relation), true)
})
