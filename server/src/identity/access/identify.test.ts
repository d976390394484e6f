import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import type { KeyCaller, SessionCaller } from './caller.ts'
import { createIdentify } from './identify.ts'

const user = { id: 'u', username: 'admin', email: null, role: 'admin' as const }
const session: SessionCaller = { kind: 'session', user, session: { jti: 'j', mode: 'admin', expires_at: '' } }
const key: KeyCaller = { kind: 'key', user, key: { id: 'k', name: 'k', scope: 'user', agent_id: null } }

const lookups: string[] = []
const identify = createIdentify({
  verifySession: async (token) => {
    lookups.push(token)
    return token === 'good' ? session : null
  },
  verifyKey: async (text) => (text === 'svc_mcp_good' ? key : null),
  isRunKey: (text) => text === 'svc_mcp_run_ended',
})

test('a request without an Authorization header is anonymous', async () => {
  assert.deepEqual(await identify(undefined), { kind: 'anonymous' })
})

test('the scheme is case-insensitive', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) assert.equal(await identify(`${scheme} good`), session)
})

test('a credential with the key prefix is looked up as a key, any other as a session', async () => {
  assert.equal(await identify('Bearer svc_mcp_good'), key)
  await assert.rejects(identify('Bearer svc_mcp_bad'), (error) => isFault(error, 'invalid_token'))
  assert.ok(!lookups.includes('svc_mcp_bad'))
})

test('401 run_key_ended for the key of an ended run', async () => {
  await assert.rejects(identify('Bearer svc_mcp_run_ended'), (error) => isFault(error, 'run_key_ended'))
})

test('401 not_authenticated for another scheme and for an empty bearer token', async () => {
  for (const header of ['', 'good', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer    ', 'Bearergood'])
    await assert.rejects(identify(header), (error) => isFault(error, 'not_authenticated'), header)
})

test('401 invalid_token for an unknown token; an oversized one is not looked up', async () => {
  await assert.rejects(identify('Bearer bad'), (error) => isFault(error, 'invalid_token'))
  const oversized = 'x'.repeat(100_000)
  await assert.rejects(identify(`Bearer ${oversized}`), (error) => isFault(error, 'invalid_token'))
  assert.ok(!lookups.includes(oversized))
})
