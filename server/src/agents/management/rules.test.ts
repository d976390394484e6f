import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignedIn } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import {
  refuseOverQuota,
  refuseReservedName,
  requireModel,
  resourcesFor,
  tagChange,
  templateTags,
  wantedTags,
} from './rules.ts'

const user = { id: 'u', username: 'u', email: null, role: 'creator' as const }
const person: SignedIn = { kind: 'session', user, session: { jti: 'j', mode: 'email', expires_at: '' } }
const key: SignedIn = { kind: 'key', user, key: { id: 'k', name: 'k', scope: 'user', agent_id: null } }
const throws = (code: Parameters<typeof isFault>[1]) => (error: unknown) => isFault(error, code)

test("route words and the platform's prefix are reserved", () => {
  for (const name of ['slots', 'scheduler', 'avatars', 'context-stats', 'roost-', 'roost-system']) {
    assert.throws(() => refuseReservedName(name), throws('reserved_agent_name'), name)
  }
  for (const name of ['slot', 'roost', 'my-roost-x']) refuseReservedName(name)
})

test('the quota applies to creators, not admins; 0 means unlimited', () => {
  refuseOverQuota(person, 9, 10)
  refuseOverQuota(person, 1000, 0)
  refuseOverQuota({ ...person, user: { ...user, role: 'admin' } }, 1000, 1)
  assert.throws(() => refuseOverQuota(person, 10, 10), throws('agent_quota_exceeded'))
})

test('resources: the request, then the template, then the platform', () => {
  const platform = { cpu: '2', memory: '4g' } as const
  assert.deepEqual(resourcesFor(null, null, platform), platform)
  assert.deepEqual(resourcesFor({ memory: '1g' }, { cpu: '8', memory: '2g' }, platform), {
    cpu: '8',
    memory: '1g',
  })
})

test('validates the shape of a model; blank means the default', () => {
  assert.equal(requireModel('  '), null)
  assert.equal(requireModel(undefined), null)
  assert.equal(requireModel('Opus[1m]'), 'Opus[1m]')
  assert.throws(() => requireModel('llama'), throws('invalid_model'))
})

test('tags: computes the change; only people can change organizational tags', () => {
  assert.deepEqual(tagChange(key, ['a', 'b'], ['b', 'c']), { added: ['c'], removed: ['a'] })
  assert.throws(() => tagChange(key, [], ['dept-a']), throws('human_only'))
  assert.throws(() => tagChange(key, ['reports-to-x'], []), throws('human_only'))
  assert.deepEqual(tagChange(key, ['dept-a'], ['dept-a', 'b']).added, ['b'])
  assert.deepEqual(tagChange(person, [], ['dept-a']).added, ['dept-a'])
})

test('a template contributes only plain tags', () => {
  assert.deepEqual(templateTags(['Fine', 'no spaces please', 'dept-x', '']), ['fine'])
})

test('parses the tags of a query', () => {
  assert.deepEqual(wantedTags(' A, b,,'), ['a', 'b'])
  assert.deepEqual(wantedTags(undefined), [])
})
