import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyScope, keyScopes, type Role, roles } from '@roost/contracts/kit/access'
import { isFault } from '../../kit/fault.ts'
import type { SignedIn } from '../access/caller.ts'
import { requestableScope, works } from './rules.ts'

const now = new Date('2030-01-01T00:00:00.000Z')
const later = '2030-01-02T00:00:00.000Z'
const earlier = '2029-12-31T00:00:00.000Z'

function caller(kind: 'session' | KeyScope, role: Role): SignedIn {
  const user = { id: 'u', username: 'u', email: null, role }
  return kind === 'session'
    ? { kind: 'session', user, session: { jti: 'j', mode: 'admin', expires_at: later } }
    : { kind: 'key', user, key: { id: 'k', name: 'k', scope: kind, agent_id: null } }
}

function outcome(who: SignedIn, scope: string, expires_at: string | null = null): string {
  try {
    return requestableScope(who, { scope, expires_at }, now)
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
}

test('every role may create a user key, with a session or a user key', () => {
  for (const role of roles)
    for (const kind of ['session', 'user'] as const) assert.equal(outcome(caller(kind, role), 'user'), 'user')
})

for (const scope of ['ops', 'portal_delegate']) {
  test(`${scope} keys require an admin's session`, () => {
    for (const role of roles) {
      assert.equal(outcome(caller('session', role), scope), role === 'admin' ? scope : 'admin_required')
      for (const kind of keyScopes) assert.equal(outcome(caller(kind, role), scope), 'human_only')
    }
  })

  test(`${scope} keys accept an expiry time in the future`, () => {
    const admin = caller('session', 'admin')
    assert.equal(outcome(admin, scope, later), scope)
    assert.equal(outcome(admin, scope, earlier), 'validation_error')
    assert.equal(outcome(admin, scope, now.toISOString()), 'validation_error')
  })
}

test('422 for a user key with an expiry time', () => {
  assert.equal(outcome(caller('session', 'admin'), 'user', later), 'validation_error')
})

test('400 for scopes minted elsewhere, with the route that mints them', () => {
  for (const scope of ['agent', 'connector', 'system']) {
    assert.throws(
      () => requestableScope(caller('session', 'admin'), { scope }, now),
      (error) =>
        isFault(error, 'scope_not_requestable') &&
        typeof error.fields.route === 'string' &&
        error.message.includes(error.fields.route),
    )
  }
})

test('400 for an unknown scope, for every caller', () => {
  for (const scope of ['', 'USER', 'admin', 'user ', 'root', '__proto__', 'x'.repeat(10_000)])
    for (const role of roles) assert.equal(outcome(caller('session', role), scope), 'unknown_scope')
})

const state = (change: Partial<Parameters<typeof works>[0]> = {}) => ({
  scope: 'user' as KeyScope,
  revoked_at: null,
  expires_at: null,
  owner: { role: 'user', suspended_at: null },
  ...change,
})

test('a key works until it is revoked or expires, or its owner is suspended or removed', () => {
  for (const scope of keyScopes) {
    const owner = { role: 'admin', suspended_at: null }
    assert.equal(works(state({ scope, owner }), now), true)
    assert.equal(works(state({ scope, owner, revoked_at: earlier }), now), false)
    assert.equal(works(state({ scope, owner, expires_at: later }), now), true)
    assert.equal(works(state({ scope, owner, expires_at: now.toISOString() }), now), false)
    assert.equal(works(state({ scope, owner: { role: 'admin', suspended_at: earlier } }), now), false)
    assert.equal(works(state({ scope, owner: null }), now), false)
  }
})

test('ops and portal_delegate keys stop while their owner is not admin; others keep working', () => {
  for (const role of roles)
    for (const scope of keyScopes) {
      const stops = (scope === 'ops' || scope === 'portal_delegate') && role !== 'admin'
      assert.equal(works(state({ scope, owner: { role, suspended_at: null } }), now), !stops)
    }
})
