import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Access,
  type FencedScope,
  fencedScopes,
  type KeyScope,
  keyScopes,
  type Role,
  roles,
} from '@roost/contracts/kit/access'
import type { Caller, Relation, SignedIn } from './caller.ts'
import { may, refuseAfter, refuseBefore, roleAtLeast } from './rules.ts'

function session(role: Role = 'user'): SignedIn {
  return {
    kind: 'session',
    user: { id: `${role}-id`, username: role, email: null, role },
    session: { jti: 'j', mode: 'admin', expires_at: '2030-01-01T00:00:00.000Z' },
  }
}

function key(scope: KeyScope, role: Role = 'user'): SignedIn {
  return {
    kind: 'key',
    user: { id: `${role}-id`, username: role, email: null, role },
    key: { id: 'k', name: 'k', scope, agent_id: scope === 'agent' ? 'a' : null },
  }
}

const anonymous: Caller = { kind: 'anonymous' }
const everySignedIn = roles.flatMap((role) => [session(role), ...keyScopes.map((scope) => key(scope, role))])
const everyRelation: (Relation | null)[] = ['owner', 'admin', 'shared', 'self', 'permitted', null]
const everyAccess: Access[] = (
  ['none', 'any', 'access', 'owner', 'admin', 'agent', 'internal'] as const
).flatMap((who) =>
  ([undefined, 'person', 'human'] as const).flatMap((gate) =>
    ([undefined, 'operator', 'creator'] as const).flatMap((role) =>
      ([undefined, ...fencedScopes.map((scope) => [scope])] as (FencedScope[] | undefined)[]).flatMap(
        (scopes) =>
          ([undefined, ['agent'], ['agent', 'system']] as (KeyScope[] | undefined)[]).map((refuses) => ({
            who,
            gate,
            role,
            scopes,
            refuses,
          })),
      ),
    ),
  ),
)

function verdictOf(caller: Caller, access: Access, relation: Relation | null = null): string {
  const verdict = may(caller, access, relation)
  return 'allow' in verdict ? 'allow' : verdict.refuse
}

const scopeOf = (caller: SignedIn) => (caller.kind === 'key' ? caller.key.scope : 'session')

/** Caller, access, relation → verdict. One row for each access rule of the contract. */
const table: [why: string, caller: Caller, access: Access, relation: Relation | null, expected: string][] = [
  ['an open route needs no credential', anonymous, { who: 'none' }, null, 'allow'],
  ['the internal listener has its own checks', anonymous, { who: 'internal' }, null, 'allow'],
  ['no credential', anonymous, { who: 'any' }, null, 'not_authenticated'],
  ['no credential for an agent that exists', anonymous, { who: 'access' }, 'owner', 'not_authenticated'],

  ['a session on a route for any caller', session(), { who: 'any' }, null, 'allow'],
  ['a user key on a route for any caller', key('user'), { who: 'any' }, null, 'allow'],
  ['an agent key on a route for any caller', key('agent'), { who: 'any' }, null, 'allow'],
  ['an ops key where it is not listed', key('ops', 'admin'), { who: 'any' }, null, 'scope_not_allowed'],
  ['an ops key where it is listed', key('ops', 'admin'), { who: 'any', scopes: ['ops'] }, null, 'allow'],
  [
    'a connector key where ops is listed',
    key('connector'),
    { who: 'any', scopes: ['ops'] },
    null,
    'scope_not_allowed',
  ],
  [
    'the fence is checked before the gate',
    key('ops', 'admin'),
    { who: 'any', gate: 'human' },
    null,
    'scope_not_allowed',
  ],
  [
    'the fence is checked before the lookup',
    key('ops', 'admin'),
    { who: 'access' },
    null,
    'scope_not_allowed',
  ],
  [
    'a listed scope does not pass a gate',
    key('ops', 'admin'),
    { who: 'any', gate: 'human', scopes: ['ops'] },
    null,
    'human_only',
  ],
  [
    'an agent key on a route about keys',
    key('agent'),
    { who: 'any', refuses: ['agent', 'system'] },
    null,
    'scope_not_allowed',
  ],
  [
    'the system key on a route about keys',
    key('system', 'admin'),
    { who: 'any', refuses: ['agent', 'system'] },
    null,
    'scope_not_allowed',
  ],
  [
    'a user key on a route about keys',
    key('user'),
    { who: 'any', refuses: ['agent', 'system'] },
    null,
    'allow',
  ],

  ['a user key at the person gate', key('user'), { who: 'any', gate: 'person' }, null, 'allow'],
  [
    'the system key at the person gate',
    key('system', 'admin'),
    { who: 'any', gate: 'person' },
    null,
    'allow',
  ],
  [
    'the system key where queue answers refuse it',
    key('system', 'admin'),
    { who: 'any', gate: 'person', refuses: ['system'] },
    null,
    'person_required',
  ],
  [
    'an agent key at the person gate',
    key('agent', 'admin'),
    { who: 'any', gate: 'person' },
    null,
    'person_required',
  ],
  ['a session where a key is required', session(), { who: 'any', gate: 'key' }, null, 'invalid_token'],
  ['a key where a key is required', key('agent'), { who: 'any', gate: 'key' }, null, 'allow'],
  ['a session at the human gate', session(), { who: 'any', gate: 'human' }, null, 'allow'],
  ['a user key at the human gate', key('user', 'admin'), { who: 'any', gate: 'human' }, null, 'human_only'],
  [
    'the system key at the human gate',
    key('system', 'admin'),
    { who: 'any', gate: 'human' },
    null,
    'human_only',
  ],
  [
    'the gate is checked before the lookup',
    key('agent'),
    { who: 'owner', gate: 'person' },
    null,
    'person_required',
  ],
  ['the gate is checked before the role', key('user'), { who: 'admin', gate: 'human' }, null, 'human_only'],

  ['an agent that is not visible', session(), { who: 'access' }, null, 'agent_not_found'],
  [
    'an owner-only action on an agent that is not visible',
    session(),
    { who: 'owner' },
    null,
    'agent_not_found',
  ],
  ['a shared agent is accessible', session(), { who: 'access' }, 'shared', 'allow'],
  ['a permitted agent is accessible', key('agent'), { who: 'access' }, 'permitted', 'allow'],
  ['sharing does not make an owner', session(), { who: 'owner' }, 'shared', 'owner_required'],
  ['the owner', session(), { who: 'owner' }, 'owner', 'allow'],
  ['an admin counts as owner', session('admin'), { who: 'owner' }, 'admin', 'allow'],
  ["the owner's user key", key('user'), { who: 'owner', gate: 'person' }, 'owner', 'allow'],
  ['an agent key is owner of its own agent', key('agent'), { who: 'owner' }, 'self', 'allow'],
  [
    'an agent key is not owner of a permitted agent',
    key('agent'),
    { who: 'owner' },
    'permitted',
    'owner_required',
  ],
  [
    "an agent key is not owner through its owner's role",
    key('agent', 'admin'),
    { who: 'owner' },
    'admin',
    'owner_required',
  ],
  [
    'an agent key does not pass the person gate of its own agent',
    key('agent'),
    { who: 'owner', gate: 'person' },
    'self',
    'person_required',
  ],
  [
    'a connector key owns nothing',
    key('connector'),
    { who: 'owner', scopes: ['connector'] },
    'self',
    'owner_required',
  ],
  [
    'the relation is checked before the role',
    session(),
    { who: 'owner', role: 'creator' },
    'shared',
    'owner_required',
  ],

  ["the agent's own key", key('agent'), { who: 'agent' }, 'self', 'allow'],
  ["another agent's key", key('agent'), { who: 'agent' }, 'permitted', 'agent_identity_required'],
  [
    'an agent key for an agent that is not visible to it',
    key('agent'),
    { who: 'agent' },
    null,
    'agent_not_found',
  ],
  ['a session for an agent route', session('admin'), { who: 'agent' }, 'admin', 'agent_identity_required'],
  [
    'a user key for an agent route',
    key('user', 'admin'),
    { who: 'agent' },
    'admin',
    'agent_identity_required',
  ],

  ['an admin', session('admin'), { who: 'admin' }, null, 'allow'],
  ["an admin's user key", key('user', 'admin'), { who: 'admin' }, null, 'allow'],
  ['the system key', key('system', 'admin'), { who: 'admin' }, null, 'allow'],
  ['a creator at the admin gate', session('creator'), { who: 'admin' }, null, 'admin_required'],
  ["an admin's agent key at the admin gate", key('agent', 'admin'), { who: 'admin' }, null, 'admin_required'],
  [
    "an admin's ops key where it is listed",
    key('ops', 'admin'),
    { who: 'admin', scopes: ['ops'] },
    null,
    'allow',
  ],
  [
    "a demoted admin's ops key",
    key('ops', 'user'),
    { who: 'admin', scopes: ['ops'] },
    null,
    'admin_required',
  ],
  [
    "an admin's connector key, listed by mistake",
    key('connector', 'admin'),
    { who: 'admin', scopes: ['connector'] },
    null,
    'admin_required',
  ],

  [
    'a user where creator is required',
    session('user'),
    { who: 'any', role: 'creator' },
    null,
    'role_required',
  ],
  [
    'an operator where creator is required',
    session('operator'),
    { who: 'any', role: 'creator' },
    null,
    'role_required',
  ],
  ['a creator', session('creator'), { who: 'any', role: 'creator' }, null, 'allow'],
  ['an admin where operator is required', session('admin'), { who: 'any', role: 'operator' }, null, 'allow'],
]

for (const [why, caller, access, relation, expected] of table) {
  test(`${expected}: ${why}`, () => {
    assert.equal(verdictOf(caller, access, relation), expected)
  })
}

test('roles are ordered user, operator, creator, admin', () => {
  const order: Role[] = ['user', 'operator', 'creator', 'admin']
  for (const [i, role] of order.entries())
    for (const [j, least] of order.entries()) assert.equal(roleAtLeast(role, least), i >= j)
})

/** Every caller × every access × every relation. */
function forEachCombination(
  check: (caller: SignedIn, access: Access, relation: Relation | null) => void,
): void {
  let cases = 0
  for (const caller of everySignedIn)
    for (const access of everyAccess)
      for (const relation of everyRelation) {
        check(caller, access, relation)
        cases += 1
      }
  assert.equal(cases, 4 * 7 * (7 * 3 * 3 * 4 * 3) * 6)
}

test('401 without a credential, except on open routes', () => {
  for (const access of everyAccess) {
    const open = access.who === 'none' || access.who === 'internal'
    for (const relation of everyRelation)
      assert.equal(verdictOf(anonymous, access, relation), open ? 'allow' : 'not_authenticated')
  }
})

test('an open route admits every caller', () => {
  forEachCombination((caller, access, relation) => {
    if (access.who === 'none' || access.who === 'internal')
      assert.equal(verdictOf(caller, access, relation), 'allow')
  })
})

test('a fenced scope is refused by the fence where it is not listed, whatever the other checks say', () => {
  forEachCombination((caller, access, relation) => {
    const scope = scopeOf(caller)
    const fenced = fencedScopes.find((candidate) => candidate === scope)
    if (!fenced || access.who === 'none' || access.who === 'internal' || access.scopes?.includes(fenced))
      return
    assert.equal(verdictOf(caller, access, relation), 'scope_not_allowed')
  })
})

test('no key passes the human gate, and only session, user and system keys the person gate', () => {
  forEachCombination((caller, access, relation) => {
    if (access.who === 'none' || access.who === 'internal' || !access.gate) return
    if (verdictOf(caller, access, relation) !== 'allow') return
    const admitted = access.gate === 'human' ? ['session'] : ['session', 'user', 'system']
    assert.ok(admitted.includes(scopeOf(caller)))
  })
})

test('a refused scope is never admitted', () => {
  forEachCombination((caller, access, relation) => {
    if (access.who === 'none' || access.who === 'internal' || caller.kind === 'session') return
    if (access.refuses?.includes(caller.key.scope))
      assert.notEqual(verdictOf(caller, access, relation), 'allow')
  })
})

test('an agent that is not visible is never acted on and is indistinguishable from an unknown one', () => {
  forEachCombination((caller, access) => {
    if (!['access', 'owner', 'agent'].includes(access.who)) return
    const before = refuseBefore(caller, access)
    assert.equal(verdictOf(caller, access, null), before ?? 'agent_not_found')
  })
})

test('the admin gate admits role admin only with a session, a user key, a system key or a listed ops key', () => {
  forEachCombination((caller, access, relation) => {
    if (access.who !== 'admin' || verdictOf(caller, access, relation) !== 'allow') return
    assert.equal(caller.user.role, 'admin')
    const admitted = ['session', 'user', 'system', ...(access.scopes?.includes('ops') ? ['ops'] : [])]
    assert.ok(admitted.includes(scopeOf(caller)))
  })
})

test('owner routes admit owners, admins and, without a gate, the key of the agent itself', () => {
  forEachCombination((caller, access, relation) => {
    if (access.who !== 'owner' || verdictOf(caller, access, relation) !== 'allow') return
    if (scopeOf(caller) === 'agent') assert.deepEqual([relation, access.gate], ['self', undefined])
    else assert.ok(relation === 'owner' || relation === 'admin')
  })
})

test('the first failing check is the response: checks after the lookup never override earlier ones', () => {
  forEachCombination((caller, access, relation) => {
    const before = refuseBefore(caller, access)
    const after = refuseAfter(caller, access, relation)
    assert.equal(verdictOf(caller, access, relation), before ?? after ?? 'allow')
    const early = ['not_authenticated', 'scope_not_allowed', 'human_only', 'person_required']
    assert.ok(!after || !early.includes(after))
  })
})
