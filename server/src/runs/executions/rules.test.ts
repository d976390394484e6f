import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyScope } from '@roost/contracts/kit/access'
import { triggers } from '@roost/contracts/runs/executions'
import type { KeyCaller, SignedIn } from '../../identity/access/caller.ts'
import { person } from '../../test/run-platform.ts'
import { dollars, isAdmin, isPrivate, mayRead, maySee, messagePreview } from './rules.ts'

const key = (
  scope: KeyScope,
  over: { id?: string; role?: 'user' | 'admin'; user?: string } = {},
): KeyCaller => ({
  kind: 'key',
  user: { id: over.user ?? 'u1', username: 'ann', email: null, role: over.role ?? 'user' },
  key: { id: over.id ?? 'k1', name: 'key', scope, agent_id: scope === 'agent' ? 'a1' : null },
})
const row = (over: object = {}) => ({
  kind: 'chat' as const,
  triggered_by: 'chat' as const,
  source_user_id: 'u1',
  source_mcp_key_id: null,
  ...over,
})

test('conversations of one person are private, everything else is not', () => {
  const found = (kind: 'chat' | 'task') => triggers.filter((each) => isPrivate({ kind, triggered_by: each }))
  assert.deepEqual(found('task'), ['chat', 'session', 'workspace', 'voice'])
  assert.deepEqual(found('chat'), ['chat', 'session', 'workspace', 'mcp', 'voice'])
})

test('its person and admins may read a private run', () => {
  const cases: [string, SignedIn, boolean][] = [
    ['its person', person(), true],
    ["its person's user key", key('user'), true],
    ['somebody else', person({ id: 'u2' }), false],
    ['an admin', person({ id: 'u2', role: 'admin' }), true],
    ["an admin's user key", key('user', { user: 'u2', role: 'admin' }), true],
    ['the system key', key('system', { user: 'u2', role: 'admin' }), true],
    ["an admin's ops key", key('ops', { user: 'u2', role: 'admin' }), false],
    ["the person's own ops key", key('ops'), false],
    ["the agent's own key", key('agent'), false],
    ["an admin's agent key", key('agent', { role: 'admin' }), false],
    ["the person's connector key", key('connector'), false],
  ]
  for (const [who, caller, expected] of cases) assert.equal(mayRead(caller, row()), expected, who)
})

test('the key of a private conversation may read it', () => {
  assert.equal(mayRead(key('connector', { id: 'k9' }), row({ source_mcp_key_id: 'k9' })), true)
  assert.equal(mayRead(key('connector', { id: 'k8' }), row({ source_mcp_key_id: 'k9' })), false)
})

test('everyone with access to the agent may read a run that is not private', () => {
  assert.equal(mayRead(person({ id: 'u2' }), row({ triggered_by: 'manual' })), true)
  assert.equal(mayRead(key('ops'), row({ triggered_by: 'schedule' })), true)
})

test('a connector key and a calling agent see the runs that they started', () => {
  const own = { source_mcp_key_id: 'k1' }
  const other = { source_mcp_key_id: 'k2' }
  assert.equal(maySee(key('connector'), 'shared', own), true)
  assert.equal(maySee(key('connector'), 'shared', other), false)
  assert.equal(maySee(key('agent'), 'permitted', own), true)
  assert.equal(maySee(key('agent'), 'permitted', other), false)
  assert.equal(maySee(key('agent'), 'self', other), true)
  assert.equal(maySee(person(), 'shared', other), true)
})

test('only a session, a user key and the system key of an admin count as admin', () => {
  assert.equal(isAdmin(person({ role: 'admin' })), true)
  assert.equal(isAdmin(person()), false)
  const scopes = (['user', 'agent', 'system', 'connector', 'portal_delegate', 'ops'] as const).filter(
    (scope) => isAdmin(key(scope, { role: 'admin' })),
  )
  assert.deepEqual(scopes, ['user', 'system'])
})

test('cost is stored in micro-dollars and shown in dollars', () => {
  assert.equal(dollars(1_250_000), 1.25)
  assert.equal(dollars(null), null)
})

test('a preview has at most 120 characters and no lone surrogate', () => {
  assert.equal(messagePreview('short'), 'short')
  assert.equal(messagePreview('x'.repeat(121)).length, 120)
  assert.ok(messagePreview(`${'x'.repeat(119)}😀`).isWellFormed())
})
